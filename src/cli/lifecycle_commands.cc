// start, stop, restart, release, restore: what moves an instance.
#include "base/limits.h"
#include "cli/command.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/progress.h"
#include "cli/quote.h"
#include "cli/terminal.h"
#include "cli/width.h"
#include "cli/words.h"

namespace cardhour::cli {
namespace {

const Positional kId{"ID", {"the instance's ID or name", "实例 ID 或名称"}};
const Option kNoWait{"--no-wait", "", {"do not wait until it is done", "不等待完成"}};

std::string path_of(const wire::InstanceView& view, const std::string& action) {
  return "/instances/" + view.id.text + "/" + action;
}

// Waits for the transition that `answer` says has begun. nullopt: interrupted, or told not
// to wait; then `exit` is the exit code.
struct Moved {
  std::optional<Waited> waited;
  int exit = kDone;
};
Result<Moved> follow(Context& context, Client& client, const Arguments& arguments,
                     const std::string& answer, Observed aim) {
  TRY_ASSIGN(const auto begun, decode<wire::InstanceView>(answer));
  Moved moved;
  if (arguments.has("--no-wait")) {
    context.put(context.json ? answer : begun.id.text);
    return moved;
  }
  TRY_ASSIGN(Waited waited, wait_until_settled(context, client, begun));
  if (waited.interrupted) {
    TRY_ASSIGN(moved.exit, interrupted(context, begun));
    return moved;
  }
  TRY(check_outcome(waited.view, aim));
  if (context.json) {
    context.put(waited.json);
    return moved;
  }
  moved.waited = std::move(waited);
  return moved;
}

Result<wire::StartRequest> start_request(const Arguments& arguments) {
  wire::StartRequest request;
  TRY_ASSIGN(const auto count, arguments.number("--count", 1, limits::kCardsPerInstanceMax));
  if (arguments.has("--no-gpu")) {
    if (arguments.has("--gpu") || count) {
      return invalid("--no-gpu", Text{"--no-gpu has no cards to choose", "--no-gpu 不能再选显卡"});
    }
    request.mode = Mode::no_gpu;
    return request;
  }
  request.gpu_model = arguments.find("--gpu");
  if (count) request.gpu_count = static_cast<int>(*count);
  if (request.gpu_model || count) request.mode = Mode::on_demand;
  return request;
}

Outcome start(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(const wire::StartRequest request, start_request(arguments));
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, arguments.text("ID")));
  TRY_ASSIGN(const std::string quoted, client->post(path_of(view, "start-quote"), encode(request)));
  TRY_ASSIGN(const auto quote, decode<wire::QuoteView>(quoted));
  remark(quote_text(context, quote, view.image));
  TRY_ASSIGN(const std::string answer,
             client->post(path_of(view, "start"), encode(request), Effect::creates_or_pays));
  TRY_ASSIGN(const Moved moved, follow(context, *client, arguments, answer, Observed::running));
  if (!moved.waited) return moved.exit;
  const wire::InstanceView& now = moved.waited->view;
  context.say(text("{} is ready. It costs {} from now on.{}", "{} 已就绪，从现在起 {}。{}",
                   clean(now.name), per_hour(context.currency(), now.rate_per_hour),
                   now.simulated ? std::string("   ") + kSimulatedMark : ""));
  Facts facts(context.language);
  add_connection(now, Password::hide, facts);
  print(facts.text());
  return kDone;
}

// What goes on costing, by the quote of a start in the same shape; nothing if it is unknown.
void note_stopped_cost(Context& context, Client& client, const wire::InstanceView& view) {
  const auto quoted = client.post(path_of(view, "start-quote"), "{}");
  if (!quoted) return;
  const auto quote = decode<wire::QuoteView>(*quoted);
  if (!quote) return;
  const Text cost = stopped_cost_text(context, quote->stopped_per_day);
  context.say(Text{"While stopped: " + cost.en + ". The SSH port and the ID stay yours.",
                   "关机期间：" + cost.zh + "。SSH 端口和 ID 保持不变。"});
}

Outcome stop(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, arguments.text("ID")));
  TRY_ASSIGN(const std::string answer, client->post(path_of(view, "stop"), "{}"));
  context.note({"Billing has stopped.", "已停止计费。"});
  TRY_ASSIGN(const Moved moved, follow(context, *client, arguments, answer, Observed::stopped));
  if (!moved.waited) return moved.exit;
  const wire::InstanceView& now = moved.waited->view;
  context.say(text("{} is stopped. It has cost {} so far.", "{} 已关机，累计费用 {}。",
                   clean(now.name), format(context.currency(), now.cost_so_far)));
  note_stopped_cost(context, *client, now);
  context.note(text("Again: cardhour start {0} · for good: cardhour release {0}",
                    "再次开机：cardhour start {0} · 不再需要：cardhour release {0}", now.id.text));
  return kDone;
}

Outcome restart(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, arguments.text("ID")));
  TRY_ASSIGN(const std::string answer, client->post(path_of(view, "restart"), "{}"));
  TRY_ASSIGN(const Moved moved, follow(context, *client, arguments, answer, Observed::running));
  if (!moved.waited) return moved.exit;
  context.say(text("{} is ready again, with the same cards and price.",
                   "{} 已重启就绪，显卡与价格不变。", clean(moved.waited->view.name)));
  return kDone;
}

// Destroys for good: only with the instance's name, typed or given.
Outcome purge(Context& context, Client& client, const Arguments& arguments,
              const wire::InstanceView& view) {
  std::string name = arguments.text("--confirm");
  if (name.empty()) {
    if (!input_is_terminal()) {
      return fail(ErrorCode::invalid_argument,
                  Text{"--now destroys the disks for good and wants the instance's name",
                       "--now 会永久销毁磁盘，需要输入实例名称"},
                  Text{"Add --confirm NAME.", "请加上 --confirm 名称。"});
    }
    remark(context.in(text("This destroys {} and its disks for good. Type its name: ",
                           "这将永久销毁 {} 及其磁盘。请输入实例名称：", clean(view.name))));
    name = read_line();
  }
  if (name != view.name) {
    return invalid(
        "--confirm",
        text("that is not its name, which is \"{}\"", "名称不符，实例名称为“{}”", clean(view.name)),
        Text{"Nothing was done.", "未做任何操作。"});
  }
  TRY_ASSIGN(const std::string answer,
             client.post(path_of(view, "release"), encode(wire::ReleaseRequest{true, name})));
  TRY_ASSIGN(const Moved moved, follow(context, client, arguments, answer, Observed::purged));
  if (!moved.waited) return moved.exit;
  context.say(
      text("{} and its disks are gone for good.", "{} 及其磁盘已永久清除。", clean(view.name)));
  return kDone;
}

Outcome release(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, arguments.text("ID")));
  if (arguments.has("--now")) return purge(context, *client, arguments, view);
  if (arguments.has("--confirm")) {
    return invalid("--confirm",
                   Text{"--confirm belongs to --now", "--confirm 只与 --now 一起使用"});
  }
  TRY_ASSIGN(const bool agreed,
             context.confirm(text("Release {}? It stops, and goes to the bin with its disks, from "
                                  "where it can be restored for some days; the bin costs nothing.",
                                  "释放 {}？它会关机并连同磁盘进入回收站，几天内可以恢复，"
                                  "回收站不收费。",
                                  clean(view.name))));
  if (!agreed) return declined(context);
  TRY_ASSIGN(const std::string answer,
             client->post(path_of(view, "release"), encode(wire::ReleaseRequest{})));
  TRY_ASSIGN(const Moved moved, follow(context, *client, arguments, answer, Observed::in_bin));
  if (!moved.waited) return moved.exit;
  const wire::InstanceView& now = moved.waited->view;
  context.say(text("{} is in the bin until {}. It has cost {}.",
                   "{} 已进入回收站，保留到 {}，累计费用 {}。", clean(now.name),
                   local_time(now.bin_until), format(context.currency(), now.cost_so_far)));
  context.note(text("Until then it can come back: cardhour restore {}",
                    "在此之前可以恢复：cardhour restore {}", now.id.text));
  return kDone;
}

Outcome restore(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, arguments.text("ID")));
  TRY_ASSIGN(const std::string answer, client->post(path_of(view, "restore"), "{}"));
  TRY_ASSIGN(const Moved moved, follow(context, *client, arguments, answer, Observed::stopped));
  if (!moved.waited) return moved.exit;
  context.say(text("{0} is back, stopped. Start it: cardhour start {1}",
                   "{0} 已恢复（关机状态）。开机：cardhour start {1}", clean(view.name),
                   view.id.text));
  return kDone;
}

Command row(std::string path, Text summary, std::vector<Option> options,
            std::vector<Example> examples, Outcome (*run)(Context&, const Arguments&)) {
  options.push_back(kNoWait);
  return {.path = std::move(path),
          .group = Group::instances,
          .summary = std::move(summary),
          .positionals = {kId},
          .options = std::move(options),
          .examples = std::move(examples),
          .run = run};
}

}  // namespace

void add_lifecycle_commands(std::vector<Command>& to) {
  to.push_back(
      row("start", {"start again, also with other cards or none", "开机，可更换显卡或不用显卡"},
          {{"--no-gpu", "", {"without a card: cheap, for code and downloads", "无卡模式开机"}},
           {"--gpu", "4090", {"this model; else as before", "型号，默认与上次相同"}},
           {"-n,--count", "N", {"that many cards", "卡数"}}},
          {{"cardhour start dev --gpu 4090 -n 2",
            {"from no-GPU: the cards are granted before the present run ends",
             "从无卡切换：先拿到显卡，再结束当前运行"}}},
          start));
  to.push_back(row("stop",
                   {"stop; billing ends at once, disks stay", "关机，立即停止计费，保留磁盘"}, {},
                   {}, stop));
  to.push_back(row("restart", {"restart, keeping cards and price", "重启，保留显卡与价格"}, {}, {},
                   restart));
  to.push_back(
      row("release",
          {"give it back: into the bin, or --now for good", "释放：进入回收站，--now 则永久清除"},
          {{"--now", "", {"destroy it and its disks at once, for good", "立即永久销毁实例与磁盘"}},
           {"--confirm",
            "NAME",
            {"with --now: its name, instead of typing it", "与 --now 连用：直接给出实例名称"}}},
          {{"cardhour release train", {"", ""}},
           {"cardhour release train --now --confirm train", {"for scripts", "用于脚本"}}},
          release));
  to.push_back(row("restore", {"take it back out of the bin", "从回收站恢复"}, {}, {}, restore));
}

}  // namespace cardhour::cli
