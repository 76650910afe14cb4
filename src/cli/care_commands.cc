// doctor, idle, hold: what is wrong with an instance, and what happens when nothing happens in it.
#include "base/enum_text.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/width.h"
#include "wire/telemetry.h"

namespace cardhour::cli {
namespace {

Outcome doctor(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, arguments.text("ID")));
  TRY_ASSIGN(const std::string answer, client->get("/instances/" + view.id.text + "/diagnosis"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto diagnosis, decode<wire::DiagnosisView>(answer));
  if (!diagnosis.runs) {
    context.say(text("{} does not run.", "{} 未在运行。", clean(view.name)));
    return kDone;
  }
  if (diagnosis.findings.empty()) {
    context.say({"Nothing is wrong that can be seen from outside.", "从外部未发现问题。"});
    return kDone;
  }
  for (const auto& finding : diagnosis.findings) {
    const Text weight =
        finding.weight == FindingWeight::problem ? Text{"PROBLEM", "问题"} : Text{"advice", "建议"};
    context.put(context.in(weight) + "  " + clean(finding.what));
    Facts facts(context.language);
    facts.add({"  seen", "  依据"}, finding.evidence);
    facts.add({"  do", "  处理"}, finding.remedy);
    facts.add({"  more", "  详见"}, finding.link);
    print(facts.text());
  }
  return kDone;
}

std::string rule_text(const Context& context, const wire::IdleRuleView& rule) {
  const std::string after = for_people(rule.after_ms, context.language);
  Text what = text("After {} of nothing: stop.", "空闲 {} 后：关机。", after);
  if (rule.action == IdleAction::notify) {
    what = text("After {} of nothing: tell.", "空闲 {} 后：通知。", after);
  } else if (rule.action == IdleAction::no_gpu) {
    what =
        text("After {} of nothing: go on without a card.", "空闲 {} 后：切换为无卡模式。", after);
  }
  std::string out = context.in(what);
  if (rule.hold_until && *rule.hold_until > present()) {
    out += context.in(text(" Held until {}.", " 保持至 {}。", local_time(*rule.hold_until)));
  }
  if (rule.deadline) {
    out += context.in(text(" WARNED: at {}, unless something happens in it.",
                           " 已警告：若无活动，将于 {} 执行。", local_time(*rule.deadline)));
  }
  return out;
}

Outcome tell_rule(Context& context, const std::string& answer) {
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto rule, decode<wire::IdleRuleView>(answer));
  context.put(rule_text(context, rule));
  return kDone;
}

Outcome idle(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, arguments.text("ID")));
  const std::string path = "/instances/" + view.id.text + "/idle";
  if (arguments.has("--off")) {
    TRY(client->remove(path));
    context.say(text("{}: no idle rule.", "{}：已取消空闲规则。", clean(view.name)));
    return kDone;
  }
  const auto after = arguments.find("--after");
  if (!after) {
    TRY_ASSIGN(const std::string answer, client->get(path));
    return tell_rule(context, answer);
  }
  wire::IdleRuleRequest request;
  TRY_ASSIGN(request.after_ms, parse_duration(*after));
  const std::string then = arguments.find("--then").value_or("stop");
  request.action = then == "no-gpu"   ? IdleAction::no_gpu
                   : then == "notify" ? IdleAction::notify
                                      : IdleAction::stop;
  TRY_ASSIGN(const std::string answer, client->put(path, encode(request)));
  return tell_rule(context, answer);
}

Outcome hold(Context& context, const Arguments& arguments) {
  wire::HoldRequest request;
  TRY_ASSIGN(request.for_ms, parse_duration(arguments.find("--for").value_or("2h")));
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, arguments.text("ID")));
  TRY_ASSIGN(const std::string answer,
             client->post("/instances/" + view.id.text + "/hold", encode(request)));
  return tell_rule(context, answer);
}

}  // namespace

void add_care_commands(std::vector<Command>& to) {
  const Positional id{"ID", {"the instance's ID or name", "实例 ID 或名称"}};
  to.push_back({.path = "doctor",
                .group = Group::instances,
                .summary = {"what is wrong with it, as seen from outside", "从外部诊断实例问题"},
                .positionals = {id},
                .run = doctor});
  to.push_back({.path = "idle",
                .group = Group::instances,
                .summary = {"what happens when nothing happens in it", "空闲时的处理方式"},
                .positionals = {id},
                .options = {{"--after", "30m", {"idle for so long", "空闲多久"}},
                            {"--then",
                             "stop|no-gpu|notify",
                             {"stop if absent", "默认关机"},
                             {"stop", "no-gpu", "notify"}},
                            {"--off", "", {"no rule", "取消规则"}}},
                .examples = {{"cardhour idle train --after 30m", {"", ""}}},
                .run = idle});
  to.push_back({.path = "hold",
                .group = Group::instances,
                .summary = {"keep it on for a while though it is idle", "空闲时也保持运行一段时间"},
                .positionals = {id},
                .options = {{"--for", "2h", {"2h if absent", "默认 2 小时"}}},
                .run = hold});
}

}  // namespace cardhour::cli
