// ls, show, rename.
#include "base/size.h"
#include "cli/command.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/instance_table.h"
#include "cli/quote.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/words.h"

namespace cardhour::cli {
namespace {

Outcome ls(Context& context, const Arguments& arguments) {
  Query query;
  if (arguments.has("--all")) query["with_purged"] = "true";
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, all_pages(*client, "/instances", query));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::InstanceView>>(answer));
  if (page.items.empty()) {
    context.note(
        {"You have no instances. Rent one: cardhour rent", "您还没有实例。租用：cardhour rent"});
    return kDone;
  }
  print(instance_table(context, page.items, Owner::hide));
  return kDone;
}

void add_shape(const Context& context, const wire::InstanceView& view, Facts& facts) {
  facts.add({"cards", "显卡"}, cards_text(context, view.mode, view.gpu_model, view.gpu_count) +
                                   (view.simulated ? std::string("   ") + kSimulatedMark : ""));
  std::string uuids;
  for (const CardId& card : view.cards) uuids += (uuids.empty() ? "" : " ") + card.text;
  facts.add({"", ""}, uuids);
  facts.add({"CPU, RAM", "CPU、内存"},
            context.in(text("{} cores, {}", "{} 核，{}", cores(view.millicores),
                            for_people_bytes(view.memory_bytes))));
  facts.add({"disks", "磁盘"}, context.in(text("{} system, {} data", "系统盘 {}，数据盘 {}",
                                               for_people_bytes(view.system_disk_bytes),
                                               for_people_bytes(view.data_disk_bytes))));
  facts.add({"image", "镜像"}, view.image);
  if (view.nesting)
    facts.add({"nesting", "嵌套"}, context.in({"Docker may run inside", "可运行 Docker"}));
  facts.add({"host", "主机"}, view.host_id.text);
}

void add_times(Context& context, const wire::InstanceView& view, Facts& facts) {
  facts.add({"created", "创建于"}, local_time(view.created_at));
  if (view.observed == Observed::running && view.ready_at) {
    facts.add({"ready for", "已运行"}, for_people(present() - *view.ready_at, context.language));
  }
  facts.add({"stopped", "关机于"}, local_time(view.stopped_at));
  facts.add({"in the bin until", "回收站保留至"}, local_time(view.bin_until));
}

void add_money(Context& context, const wire::InstanceView& view, Facts& facts) {
  const Currency& currency = context.currency();
  facts.add({"costs now", "当前费用"}, view.burn_per_hour.micro == 0
                                           ? context.in({"nothing", "不计费"})
                                           : per_hour(currency, view.burn_per_hour));
  facts.add({"cost so far", "累计费用"}, format(currency, view.cost_so_far));
}

std::string show_text(Context& context, const wire::InstanceView& view, Password password) {
  Facts facts(context.language);
  facts.add({"name", "名称"}, view.name);
  facts.add({"id", "ID"}, view.id.text);
  facts.add({"state", "状态"}, instance_state(context, view));
  if (!view.activity.empty()) {
    facts.add({"doing", "正在"}, context.in(phase_text(view.activity)));
  }
  facts.add({"waiting for", "等待"}, view.waiting_for);
  if (!view.reachable) {
    facts.add({"host", "主机"}, context.in({"gives no sign of life; nothing is charged meanwhile",
                                            "主机失联，期间不计费"}));
  }
  if (view.fault) {
    facts.add({"fault", "故障"}, view.fault->what);
    facts.add({"what to do", "处理办法"}, view.fault->next);
  }
  if (view.notice) {
    const Text reason = reason_text(view.notice->reason);
    facts.add({"notice", "通知"}, context.in(text("it will be stopped at {}: ", "将于 {} 关机：",
                                                  local_time(view.notice->deadline))) +
                                      context.in(reason));
  }
  add_connection(view, password, facts);
  add_shape(context, view, facts);
  add_money(context, view, facts);
  add_times(context, view, facts);
  facts.add({"for", "用途"}, view.purpose);
  return facts.text();
}

Outcome show(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, arguments.text("ID")));
  if (context.json) {
    TRY_ASSIGN(const std::string answer, client->get("/instances/" + view.id.text));
    context.put(answer);
    return kDone;
  }
  print(show_text(context, view, arguments.has("--password") ? Password::show : Password::hide));
  return kDone;
}

Outcome rename(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, arguments.text("ID")));
  TRY_ASSIGN(const std::string answer,
             client->patch("/instances/" + view.id.text,
                           encode(wire::RenameRequest{arguments.text("NAME")})));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto renamed, decode<wire::InstanceView>(answer));
  context.say(
      text("{} is now called {}.", "{} 已改名为 {}。", clean(view.name), clean(renamed.name)));
  return kDone;
}

}  // namespace

std::string instance_state(const Context& context, const wire::InstanceView& view) {
  std::string state = context.in(state_text(view.observed));
  if (!view.reachable) state += context.in({" (host silent)", "（主机失联）"});
  if (view.fault) state += context.in({" (fault)", "（故障）"});
  if (view.notice) state += context.in({" (notice)", "（有通知）"});
  return state;
}

std::string instance_table(Context& context, const std::vector<wire::InstanceView>& views,
                           Owner owner) {
  Table table({{{"ID", "ID"}},
               {{"NAME", "名称"}, Align::left, 32},
               {{owner == Owner::show ? "OWNER" : "", owner == Owner::show ? "用户" : ""}},
               {{"STATE", "状态"}},
               {{"CARDS", "显卡"}},
               {{"NOW", "当前费用"}, Align::right},
               {{"SO FAR", "累计"}, Align::right},
               {{"CREATED", "创建于"}},
               {{"", ""}}},
              context.language);
  for (const auto& view : views) {
    const Currency& currency = context.currency();
    table.add({view.id.text, view.name, owner == Owner::show ? view.owner : "",
               instance_state(context, view),
               cards_text(context, view.mode, view.gpu_model, view.gpu_count),
               view.burn_per_hour.micro == 0 ? "-" : per_hour(currency, view.burn_per_hour),
               format(currency, view.cost_so_far), local_time(view.created_at),
               view.simulated ? kSimulatedMark : ""});
  }
  return table.text();
}

void add_instance_commands(std::vector<Command>& to) {
  const Positional id{"ID", {"the instance's ID or name", "实例 ID 或名称"}};
  to.push_back({.path = "ls",
                .group = Group::instances,
                .summary = {"your instances: state, cost now and so far", "实例列表：状态与费用"},
                .options = {{"-a,--all", "", {"also those that are gone", "包含已清除的"}}},
                .run = ls});
  to.push_back(
      {.path = "show",
       .group = Group::instances,
       .summary = {"one instance: how to connect, state, cost", "实例详情：连接方式、状态、费用"},
       .positionals = {id},
       .options = {{"--password", "", {"also the SSH password", "同时显示 SSH 密码"}}},
       .run = show});
  to.push_back({.path = "rename",
                .group = Group::instances,
                .summary = {"give it another name", "重命名"},
                .positionals = {id, {"NAME", {"the new name", "新名称"}}},
                .run = rename});
}

}  // namespace cardhour::cli
