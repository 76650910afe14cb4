// estimate time, cost, own.
#include <fmt/format.h>

#include <fstream>

#include "base/enum_text.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/estimate_options.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/width.h"
#include "domain/estimate/training.h"

namespace cardhour::cli {
namespace {

constexpr size_t kLogBytesMax = 64 << 20;
constexpr size_t kPointsSent = 4000;  // 100 KiB of text, within the body's limit
constexpr size_t kPlansShown = 8;
constexpr size_t kRowsShown = 12;

// ---- time ----

// A log of any length, read here and sent as a thinned list of "STEP SECONDS".
Result<std::string> read_log(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::not_found,
                text("there is no log {} that can be read", "没有可读取的日志 {}", clean(path)));
  }
  std::string text(kLogBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  auto points = estimate::parse_training_log(text);
  if (!points) {
    points.error().field = "--log";
    return fail(points.error());
  }
  const size_t every = points->size() / kPointsSent + 1;
  std::string out;
  for (size_t i = 0; i < points->size(); ++i) {
    if (i % every != 0 && i + 1 != points->size()) continue;
    out += fmt::format("{} {}\n", (*points)[i].step, (*points)[i].seconds);
  }
  return out;
}

Status read_speedup(const Arguments& arguments, std::optional<double>& speedup, int& cards) {
  double measured = 0;
  TRY(read_number(arguments, "--speedup", 1, 64, measured));
  if (measured > 0) speedup = measured;
  return read_count(arguments, "--speedup-cards", 2, 64, cards);
}

const std::vector<Option>& speedup_options() {
  static const std::vector<Option> options = {
      {"--speedup", "1.7", {"measured: so many times one card ...", "实测加速比……"}},
      {"--speedup-cards", "2", {"... on so many cards", "……所用卡数"}}};
  return options;
}

std::vector<Option> and_speedup(std::vector<Option> options) {
  options.insert(options.end(), speedup_options().begin(), speedup_options().end());
  return options;
}

Result<wire::TimeRequest> time_asked(const Arguments& arguments) {
  wire::TimeRequest request;
  TRY(read_seconds(arguments, "--step", request.step_seconds));
  if (arguments.has("--log")) {
    TRY_ASSIGN(request.log, read_log(arguments.text("--log")));
  }
  TRY(read_number(arguments, "--samples", 1, 1e12, request.samples));
  TRY(read_count(arguments, "--batch", 1, 1'000'000'000, request.batch));
  TRY(read_number(arguments, "--epochs", 0.001, 1e6, request.epochs));
  TRY_ASSIGN(request.steps, arguments.number("--steps", 1, 1'000'000'000'000));
  TRY(read_count(arguments, "--cards", 1, 64, request.cards));
  request.known = arguments.has("--known");
  request.tuned = arguments.has("--tuned");
  TRY(read_speedup(arguments, request.speedup, request.speedup_cards));
  request.gpu_model = arguments.find("--gpu");
  TRY(read_bytes_of(arguments, "--vram", request.vram_bytes));
  TRY(read_length(arguments, "--deadline", request.deadline_ms));
  return request;
}

void print_plans(Context& context, const std::vector<wire::PlanView>& plans) {
  if (plans.empty()) return;
  context.say({"\nWays to do it, trials included:", "\n可选方案（含试错）："});
  Table table({{{"CARDS", "显卡"}},
               {{"TIME", "耗时"}, Align::right},
               {{"FROM", "最快"}, Align::right},
               {{"TO", "最慢"}, Align::right},
               {{"COST", "费用"}, Align::right},
               {{"IN TIME", "按时"}}},
              context.language);
  for (size_t i = 0; i < std::min(plans.size(), kPlansShown); ++i) {
    const wire::PlanView& plan = plans[i];
    table.add({fmt::format("{} × {}", plan.cards, plan.gpu_name), hours_text(context, plan.run_ms),
               hours_text(context, plan.run_low_ms), hours_text(context, plan.run_high_ms),
               format(context.currency(), plan.cost),
               context.in(plan.meets_deadline ? Text{"yes", "是"} : Text{"no", "否"})});
  }
  print(table.text());
}

Table scaling_table(Context& context, const wire::TimeView& view) {
  Table table({{{"CARDS", "卡数"}, Align::right},
               {{"SPEED-UP", "加速比"}, Align::right},
               {{"ONE RUN", "单次"}, Align::right},
               {{"CARD-HOURS", "卡时"}, Align::right},
               {{"EACH ADDED CARD BRINGS", "每张新增卡的收益"}, Align::right},
               {{"PAYS", "划算"}},
               {{"COST", "费用"}, Align::right}},
              context.language);
  for (const wire::ScalingView& row : view.scaling) {
    table.add({std::to_string(row.cards), fmt::format("{:.2f}", row.speedup),
               hours_text(context, row.run_ms), hours_text(context, row.card_time_ms),
               fmt::format("{} %", row.gain_percent),
               context.in(row.pays ? Text{"yes", "是"} : Text{"no", "否"}),
               row.cost ? format(context.currency(), *row.cost) : "-"});
  }
  return table;
}

Outcome time(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(const wire::TimeRequest request, time_asked(arguments));
  TRY_ASSIGN(const auto view, (asked<wire::TimeView>(context, "/estimates/time", request)));
  if (!view) return kDone;
  context.put(clean(view->sentence));
  if (view->fit) context.put(clean(view->fit->sentence));
  if (view->cost) {
    const std::string cost = format(context.currency(), *view->cost);
    context.say(text("On these cards: {}.", "用这些卡：{}。", cost));
  }
  if (arguments.has("--explain")) print_formulas(context, view->formulas);
  context.put("");
  print(scaling_table(context, *view).text());
  print_plans(context, view->plans);
  context.put("");
  print_lines(context, view->advice);
  return kDone;
}

// ---- cost ----

Result<wire::CostRequest> cost_asked(const Arguments& arguments) {
  wire::CostRequest request;
  request.gpu_model = arguments.find("--gpu");
  TRY(read_count(arguments, "--cards", 1, 16, request.cards));
  TRY(read_length(arguments, "--run", request.run_ms));
  TRY(read_number(arguments, "--hours-per-day", 0.01, 24, request.hours_per_day));
  TRY(read_count(arguments, "--days", 1, 3653, request.days));
  if (const auto project = arguments.find("--project")) request.known = *project == "known";
  std::optional<Duration> no_gpu;
  TRY(read_length(arguments, "--no-gpu", no_gpu));
  request.no_gpu_ms = no_gpu.value_or(Duration{});
  TRY(read_bytes_of(arguments, "--vram", request.vram_bytes));
  TRY(read_length(arguments, "--deadline", request.deadline_ms));
  TRY(read_speedup(arguments, request.speedup, request.speedup_cards));
  TRY(read_length(arguments, "--checkpoint", request.checkpoint_ms));
  TRY(read_length(arguments, "--interrupted-every", request.interruption_ms));
  TRY(read_length(arguments, "--rebuild", request.rebuild_ms));
  return request;
}

std::string mode_text(const Context& context, const wire::CostRowView& row) {
  const std::string mode = estimate::pay_mode_text(row.mode).in(context.language);
  return row.packages > 0 ? fmt::format("{} × {}", row.packages, mode) : mode;
}

Table cost_table(Context& context, const wire::CostView& view) {
  Table table({{{"CARDS", "显卡"}},
               {{"MODE", "方式"}},
               {{"PER HOUR", "每小时"}, Align::right},
               {{"TOTAL", "合计"}, Align::right},
               {{"SAVES", "节省"}, Align::right},
               {{"FOR SALE", "可购"}}},
              context.language);
  for (size_t i = 0; i < std::min(view.rows.size(), kRowsShown); ++i) {
    const wire::CostRowView& row = view.rows[i];
    table.add({fmt::format("{} × {}", row.cards, row.gpu_name), mode_text(context, row),
               per_hour(context.currency(), row.rate_per_hour),
               format(context.currency(), row.total), fmt::format("{} %", row.saves_percent),
               context.in(row.for_sale ? Text{"yes", "是"} : Text{"not yet", "暂未"})});
  }
  return table;
}

void print_balance(Context& context, const wire::CostView& view) {
  const Currency& currency = context.currency();
  context.say(text("Keep {} in the wallet; a first top-up of {} to {} is 10 to 20 hours.",
                   "余额建议保持 {}；首次充值 {} 到 {}，即 10 到 20 小时。",
                   format(currency, view.balance.keep),
                   format(currency, view.balance.first_topup_low),
                   format(currency, view.balance.first_topup_high)));
  for (const wire::PackageView& package : view.packages) {
    const std::string name = estimate::pay_mode_text(package.term).in(context.language);
    context.say(text("A {} package is {} % of on demand: cheaper from {} of use.",
                     "{}为按量价的 {}%：使用超过 {} 时更便宜。", name, package.price_percent,
                     hours_text(context, package.break_even_ms)));
  }
  if (!view.checkpoint) return;
  context.say(
      text("A checkpoint every {} (Young's formula gives {}); keep {}; {} % of the time is lost.",
           "每 {} 保存一次检查点（Young 公式得 {}）；保留 {} 份；损失 {}% 的时间。",
           for_people(view.checkpoint->suggested_ms, context.language),
           for_people(view.checkpoint->interval_ms, context.language), view.checkpoint->keep,
           view.checkpoint->lost_percent));
}

Outcome cost(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(const wire::CostRequest request, cost_asked(arguments));
  TRY_ASSIGN(const auto view, (asked<wire::CostView>(context, "/estimates/cost", request)));
  if (!view) return kDone;
  context.put(clean(view->sentence));
  if (arguments.has("--explain")) {
    print_formulas(context, view->formulas);
    if (view->checkpoint) {
      print_formulas(context,
                     {{context.in({"checkpoint", "检查点"}),
                       view->checkpoint->formula + " (" + view->checkpoint->source + ")"}});
    }
  }
  context.put("");
  print(cost_table(context, *view).text());
  print_plans(context, view->plans);
  context.put("");
  print_balance(context, *view);
  print_lines(context, view->advice);
  return kDone;
}

// ---- own ----

Result<wire::OwnRequest> own_asked(const Arguments& arguments) {
  wire::OwnRequest request;
  request.gpu_model = arguments.find("--gpu").value_or(request.gpu_model);
  TRY(read_count(arguments, "--cards", 1, 16, request.cards));
  TRY(read_number(arguments, "--hours", 0, 744, request.hours_per_month));
  TRY(read_money(arguments, "--machine", request.machine_price));
  TRY(read_money(arguments, "--kwh", request.price_per_kwh));
  std::optional<Money> upkeep;
  TRY(read_money(arguments, "--upkeep", upkeep));
  request.upkeep_per_month = upkeep.value_or(Money{});
  TRY_ASSIGN(const auto watts, arguments.number("--watts", 0, 100'000));
  if (watts) request.machine_watts = static_cast<int>(*watts);
  TRY_ASSIGN(const auto loss, arguments.number("--loss", 0, 100));
  if (loss) request.value_lost_percent = static_cast<int>(*loss);
  TRY(read_count(arguments, "--months", 1, 120, request.months));
  request.steady = arguments.has("--steady");
  request.data_must_stay = arguments.has("--data-must-stay");
  return request;
}

Outcome own(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(const wire::OwnRequest request, own_asked(arguments));
  TRY_ASSIGN(const auto view, (asked<wire::OwnView>(context, "/estimates/own", request)));
  if (!view) return kDone;
  const Currency& currency = context.currency();
  context.put(clean(view->sentence));
  print_lines(context, view->reasons);
  if (arguments.has("--explain")) print_formulas(context, view->formulas);
  context.put("");
  Table table({{{"HOURS A MONTH", "每月小时"}, Align::right},
               {{"OWNED", "自有"}, Align::right},
               {{"RENTED", "租用"}, Align::right},
               {{"OWNED, PER HOUR", "自有每有效小时"}, Align::right}},
              context.language);
  for (const wire::OwnPointView& point : view->curve) {
    table.add({fmt::format("{:.0f}", point.hours_per_month), format(currency, point.own_per_month),
               format(currency, point.rent_per_month),
               point.own_per_hour ? format(currency, *point.own_per_hour) : "-"});
  }
  print(table.text());
  return kDone;
}

}  // namespace

void add_estimate_money_commands(std::vector<Command>& to) {
  to.push_back(
      {.path = "estimate time",
       .group = Group::market,
       .summary = {"how long a training takes", "训练需要多久"},
       .options = with_explain(and_speedup(
           {{"--step", "0.9s", {"length of one step", "单步耗时"}},
            {"--log",
             "FILE",
             {"or the log of a run; read here, not uploaded", "或训练日志；在本机读取，不上传"}},
            {"--samples", "50000", {"in the data set", "样本数"}},
            {"--batch", "8", {"samples a step, over all cards", "每步样本数（所有卡合计）"}},
            {"--epochs", "3", {"passes over the samples", "轮数"}},
            {"--steps", "18750", {"instead of the three", "代替以上三项"}},
            {"-n,--cards", "1", {"that the step was measured on", "测得单步耗时的卡数"}},
            {"--known", "", {"such a project was done before", "做过类似项目"}},
            {"--tuned", "", {"one card is tuned already", "单卡已调优"}},
            {"--gpu",
             "4090",
             {"that it was measured on: adds prices and plans", "测量所用显卡：给出价格与方案"}},
            {"--vram", "20G", {"that one card needs", "单卡所需显存"}},
            {"--deadline", "48h", {"plans that meet it come first", "优先列出能按时完成的方案"}}})),
       .examples =
           {{"cardhour estimate time --step 0.9s --samples 50000 --batch 8 --epochs 3 --gpu 4090",
             {"", ""}},
            {"cardhour estimate time --log train.log --steps 20000 --known", {"", ""}}},
       .run = time});
  to.push_back(
      {.path = "estimate cost",
       .group = Group::market,
       .summary = {"what the hours cost, in each mode", "各计费方式的费用"},
       .options = with_explain(and_speedup(
           {{"--gpu",
             "4090",
             {"only this model; adds plans on others", "仅此型号；并给出其他型号的方案"}},
            {"-n,--cards", "1", {"cards", "卡数"}},
            {"--run", "12h", {"how long in all", "总时长"}},
            {"--hours-per-day", "22", {"or so long a day ...", "或每天时长……"}},
            {"--days", "14", {"... for so many days", "……天数"}},
            {"--project",
             "new|known",
             {"adds trials: x 2.5 or x 1.5", "计入试错：× 2.5 或 × 1.5"},
             {"new", "known"}},
            {"--no-gpu",
             "5h",
             {"beside it, for code and downloads", "另有无卡时长，用于编码与下载"}},
            {"--vram", "20G", {"that one card needs", "单卡所需显存"}},
            {"--deadline", "48h", {"plans that meet it come first", "优先列出能按时完成的方案"}},
            {"--checkpoint", "30s", {"how long one takes ...", "保存一次检查点的耗时……"}},
            {"--interrupted-every",
             "4h",
             {"... and how often runs are interrupted", "……与平均中断间隔"}},
            {"--rebuild",
             "30m",
             {"how long the environment takes to set up", "搭建环境所需时间"}}})),
       .examples =
           {{"cardhour estimate cost --gpu 4090 --hours-per-day 22 --days 14", {"", ""}},
            {"cardhour estimate cost --gpu 4090 --run 12h --project new --deadline 24h --explain",
             {"", ""}}},
       .run = cost});
  to.push_back(
      {.path = "estimate own",
       .group = Group::market,
       .summary = {"owning a machine against renting", "自有机器与租用的比较"},
       .options = with_explain(
           {{"--gpu", "4090", {"the card; rtx-4090 if absent", "显卡，默认 rtx-4090"}},
            {"-n,--cards", "1", {"cards", "卡数"}},
            {"--hours", "50", {"a month that they really work", "每月真正工作的小时数"}},
            {"--machine", "20000", {"its price", "机器价格"}},
            {"--watts", "600", {"that it takes", "功率"}},
            {"--kwh", "0.80", {"price of electricity", "电价"}},
            {"--loss", "50", {"per cent of value lost in a year", "每年贬值百分比"}},
            {"--upkeep", "0", {"a month: room, network, hands", "每月维护：场地、网络、人力"}},
            {"--months", "12", {"that are looked at", "考察月数"}},
            {"--steady", "", {"the same load every day", "每天负载稳定"}},
            {"--data-must-stay", "", {"on one's own premises", "数据不能外出"}}}),
       .examples = {{"cardhour estimate own --hours 50", {"", ""}},
                    {"cardhour estimate own --gpu a100-80g --hours 500 --machine 90000 --steady",
                     {"", ""}}},
       .run = own});
}

}  // namespace cardhour::cli
