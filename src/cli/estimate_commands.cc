// estimate vram, throughput, cards, presets: before any money is spent.
#include <fmt/format.h>

#include "base/enum_text.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/decode.h"
#include "cli/estimate_options.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/width.h"

namespace cardhour::cli {
namespace {

enum class Explain { no, yes };

Explain explain_asked(const Arguments& arguments) {
  return arguments.has("--explain") ? Explain::yes : Explain::no;
}

std::string optional_rate(Context& context, const std::optional<Money>& rate) {
  return rate ? per_hour(context.currency(), *rate) : "-";
}

// ---- vram ----

Table part_table(const Context& context, const wire::VramView& view, Explain explain) {
  std::vector<Column> columns = {{{"PART", "组成"}, Align::left, 60},
                                 {{"LOW", "最少"}, Align::right},
                                 {{"LIKELY", "可能"}, Align::right},
                                 {{"HIGH", "宽裕"}, Align::right}};
  if (explain == Explain::yes) columns.push_back({{"FORMULA", "公式"}, Align::left, 160});
  Table table(std::move(columns), context.language);
  const auto add = [&](const std::string& name, const wire::SizeRangeView& size,
                       const std::string& formula) {
    std::vector<std::string> cells = {name, for_people_bytes(size.low_bytes),
                                      for_people_bytes(size.likely_bytes),
                                      for_people_bytes(size.high_bytes)};
    if (explain == Explain::yes) cells.push_back(formula);
    table.add(std::move(cells));
  };
  for (const wire::VramPartView& part : view.parts) add(part.name, part.size, part.formula);
  add(context.in({"in all, on one card", "单卡合计"}), view.per_card, "");
  return table;
}

Table fit_table(Context& context, const wire::VramView& view) {
  Table table({{{"GPU", "显卡"}},
               {{"VRAM", "显存"}, Align::right},
               {{"CARDS", "卡数"}, Align::right},
               {{"FIT", "能否装下"}},
               {{"USED", "占用"}, Align::right},
               {{"ONE ALONE", "单卡"}},
               {{"PRICE", "价格"}, Align::right}},
              context.language);
  for (const wire::VramFitView& fit : view.fits) {
    table.add({fit.gpu_name, for_people_bytes(fit.vram_bytes), std::to_string(fit.cards),
               fit_text(context, fit.fit), fmt::format("{} %", fit.utilisation_percent),
               fit_text(context, fit.fit_alone), optional_rate(context, fit.rate_per_hour)});
  }
  return table;
}

Outcome vram(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(const wire::VramRequest request, workload_asked(arguments));
  TRY_ASSIGN(const auto view, (asked<wire::VramView>(context, "/estimates/vram", request)));
  if (!view) return kDone;
  context.put(clean(view->sentence));
  context.put("");
  print(part_table(context, *view, explain_asked(arguments)).text());
  context.put("");
  print(fit_table(context, *view).text());
  if (!view->changes.empty()) {
    context.say({"\nOn one smaller card:", "\n换用更小的单卡："});
    for (const wire::VramChangeView& change : view->changes) {
      context.put("- " + clean(change.sentence));
    }
  }
  context.put("\n" + clean(view->disk.sentence));
  print_lines(context, view->warnings);
  return kDone;
}

// ---- throughput ----

Outcome throughput(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(wire::ThroughputRequest request, serving_asked(arguments));
  request.gpu_model = arguments.find("--gpu");
  TRY_ASSIGN(const auto view,
             (asked<wire::ThroughputView>(context, "/estimates/throughput", request)));
  if (!view) return kDone;
  context.put(clean(view->sentence));
  context.put("");
  Table table({{{"GPU", "显卡"}},
               {{"CARDS", "卡数"}, Align::right},
               {{"FITS", "装得下"}},
               {{"TOKENS/S AT MOST", "词元/秒上限"}, Align::right},
               {{"EACH SEQUENCE", "每路上限"}, Align::right},
               {{"PROMPT AT MOST", "提示词上限"}, Align::right},
               {{"BOUND BY", "受限于"}},
               {{"PER MILLION, AT LEAST", "每百万词元至少"}, Align::right}},
              context.language);
  for (const wire::ThroughputRowView& row : view->rows) {
    table.add({row.gpu_name, std::to_string(row.cards),
               context.in(row.fits ? Text{"yes", "是"} : Text{"no", "否"}),
               fmt::format("{:.0f}", row.decode_tokens_per_s_max),
               fmt::format("{:.0f}", row.decode_tokens_per_s_per_sequence_max),
               fmt::format("{:.0f}", row.prefill_tokens_per_s_max),
               context.in(row.decode_bound_by == "bandwidth" ? Text{"bandwidth", "带宽"}
                                                             : Text{"compute", "算力"}),
               row.cost_per_million_tokens_min
                   ? format(context.currency(), *row.cost_per_million_tokens_min)
                   : "-"});
  }
  print(table.text());
  if (explain_asked(arguments) == Explain::no) return kDone;
  for (const wire::ThroughputRowView& row : view->rows) {
    context.put(clean(row.gpu_name));
    print_formulas(context, row.formulas);
  }
  return kDone;
}

// ---- cards ----

Result<wire::CardsRequest> cards_asked(const Arguments& arguments) {
  wire::CardsRequest request;
  const auto task = enum_from<estimate::CardTask>(arguments.find("--task").value_or("inference"));
  request.task = task.value_or(estimate::CardTask::inference);
  const bool has_model =
      arguments.has("--model") || arguments.has("--params") || arguments.has("--file");
  if (has_model == arguments.has("--vram")) {
    return invalid("--vram",
                   Text{"say what is needed: --vram, or a model", "请说明需求：--vram，或模型"},
                   Text{"For example: --vram 20G, or --params 7B --for lora",
                        "例如：--vram 20G，或 --params 7B --for lora"});
  }
  TRY(read_count(arguments, "--at-most", 1, 16, request.cards));
  if (has_model) {
    TRY_ASSIGN(request.need, workload_asked(arguments));
  }
  TRY(read_bytes_of(arguments, "--vram", request.vram_bytes));
  TRY(read_money(arguments, "--max-price", request.rate_per_hour_max));
  request.continuous = arguments.has("--continuous");
  return request;
}

Outcome cards(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(const wire::CardsRequest request, cards_asked(arguments));
  TRY_ASSIGN(const auto view, (asked<wire::CardsView>(context, "/estimates/cards", request)));
  if (!view) return kDone;
  context.put(clean(view->sentence));
  for (const wire::CardRankView& row : view->rows) {
    context.put(fmt::format("\n{}. {} × {}   {}", row.rank, row.cards, clean(row.gpu_name),
                            optional_rate(context, row.rate_per_hour)));
    context.put("   " + clean(row.reason));
    for (const std::string& warning : row.warnings) context.put("   ! " + clean(warning));
    if (explain_asked(arguments) == Explain::no) continue;
    context.put(fmt::format("   {}: {:.0f} GB/s, FP16 {:.1f} T, FP32 {:.1f} T, INT8 {:.0f} T; {}",
                            clean(row.gpu.interconnect), row.gpu.bandwidth_gb_per_s,
                            row.gpu.fp16_tflops, row.gpu.fp32_tflops, row.gpu.int8_tops,
                            clean(row.gpu.source)));
  }
  return kDone;
}

Outcome presets(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->get("/estimates/presets"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::ModelView>>(answer));
  Table table({{{"PRESET", "预设"}},
               {{"NAME", "名称"}},
               {{"SIZE", "参数量"}, Align::right},
               {{"A TOKEN PASSES", "每词元激活"}, Align::right},
               {{"LAYERS", "层数"}, Align::right},
               {{"KV HEADS", "KV 头"}, Align::right},
               {{"KV PER TOKEN", "每词元 KV"}, Align::right}},
              context.language);
  for (const wire::ModelView& model : page.items) {
    const bool draws = model.kind == estimate::ModelKind::diffusion;
    table.add({model.key, model.name, estimate::params_text(model.params),
               estimate::params_text(model.active_params),
               draws ? "-" : std::to_string(model.layers),
               draws ? "-" : std::to_string(model.kv_heads),
               draws ? "-" : for_people_bytes(model.kv_bytes_per_token)});
  }
  print(table.text());
  return kDone;
}

std::vector<Option> joined(std::vector<Option> options, std::vector<Option> more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

}  // namespace

void add_estimate_commands(std::vector<Command>& to) {
  to.push_back(
      {.path = "estimate vram",
       .group = Group::market,
       .summary = {"how much VRAM a model needs, which cards carry it",
                   "模型需要多少显存、哪些卡装得下"},
       .options = with_model_options(workload_options()),
       .examples =
           {{"cardhour estimate vram --params 7B", {"serve it in FP16", "FP16 推理"}},
            {"cardhour estimate vram --model qwen2.5-14b --for qlora --context 2048 --explain",
             {"fine-tune it, with the formulas", "微调，并列出公式"}},
            {"cardhour estimate vram --file ~/models/mine/config.json --context 8K --sequences 4",
             {"a model on this machine", "本机上的模型"}},
            {"cardhour estimate vram --params 70B --for full --zero 3 -n 16", {"", ""}}},
       .run = vram});
  to.push_back(
      {.path = "estimate throughput",
       .group = Group::market,
       .summary = {"tokens a second at most, by card", "各显卡每秒词元数上限"},
       .options = with_model_options(
           joined(serving_options(), {{"--gpu", "4090", {"only this model", "仅此型号"}}})),
       .examples =
           {{"cardhour estimate throughput --model llama-3.1-8b --precision int8 --sequences 16",
             {"", ""}}},
       .run = throughput});
  to.push_back(
      {.path = "estimate cards",
       .group = Group::market,
       .summary = {"cards ranked for a task, with reasons and warnings",
                   "按任务推荐显卡，附理由与提醒"},
       .options = with_model_options(
           joined(workload_options(),
                  {{"--task",
                    "training|inference|images",
                    {"what it looks at; inference if absent", "任务，默认推理"},
                    {"training", "inference", "images"}},
                   {"--vram",
                    "20G",
                    {"that one card needs, instead of a model", "单卡所需显存，代替模型"}},
                   {"--at-most", "1", {"so many cards", "最多卡数"}},
                   {"--max-price", "5", {"an hour, of all cards", "每小时总价上限"}},
                   {"--continuous", "", {"day and night for weeks", "昼夜连续运行数周"}}})),
       .examples =
           {{"cardhour estimate cards --task training --params 7B --for lora --context 2048",
             {"", ""}},
            {"cardhour estimate cards --task images --vram 16G --max-price 3", {"", ""}}},
       .run = cards});
  to.push_back({.path = "estimate presets",
                .group = Group::market,
                .summary = {"models that estimates know by name", "估算器已知的模型"},
                .run = presets});
  add_estimate_money_commands(to);
}

}  // namespace cardhour::cli
