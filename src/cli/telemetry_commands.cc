// top, and what operators see of cards: admin gpu ls, ps, quarantine, exclude, return.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/enum_text.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/market.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "wire/telemetry.h"

namespace cardhour::cli {
namespace {

const std::string kUnknown = "[N/A]";

std::string percent(const std::optional<int64_t>& value) {
  return value ? fmt::format("{}%", *value) : kUnknown;
}
std::string bytes(const std::optional<int64_t>& value) {
  return value ? for_people_bytes(*value) : kUnknown;
}
std::string watts(const std::optional<int64_t>& milliwatts) {
  return milliwatts ? fmt::format("{} W", *milliwatts / 1000) : kUnknown;
}
std::string celsius(const std::optional<int64_t>& value) {
  return value ? fmt::format("{} °C", *value) : kUnknown;
}

Text gpu_state_text(const std::string& state) {
  if (state == "free") return {"free", "空闲"};
  if (state == "rented") return {"rented", "已租"};
  if (state == "promised") return {"promised", "待交付"};
  if (state == "sick") return {"sick", "故障"};
  if (state == "absent") return {"absent", "不在位"};
  if (state == "quarantine") return {"quarantine", "已隔离"};
  if (state == "excluded") return {"excluded", "已排除"};
  if (state == "unfit") return {"not now", "暂不可租"};
  return {state, state};
}

void add_remark(std::string& remarks, const std::string& remark) {
  if (remark.empty()) return;
  remarks += (remarks.empty() ? "" : "; ") + remark;
}

std::string remarks_of(const Context& context, const wire::GpuView& gpu) {
  std::string remarks = gpu.card.simulated ? kSimulatedMark : "";
  add_remark(remarks, gpu.card.fault);
  for (const auto& condition : gpu.conditions) {
    add_remark(remarks, condition.what + (condition.note.empty() ? "" : ": " + condition.note));
  }
  if (gpu.is_divided) {
    add_remark(remarks, context.in(text("MIG: {} parts", "MIG：{} 份", gpu.slices.size())));
  }
  if (gpu.unowned_bytes.value_or(0) > 0 && gpu.card.state != "rented") {
    add_remark(remarks, context.in(text("{} held by nobody's process", "{} 显存无主",
                                        for_people_bytes(*gpu.unowned_bytes))));
  }
  for (const auto& xid : gpu.xids) {
    add_remark(remarks, context.in(text("Xid {} x{}, last {}", "Xid {} ×{}，最近 {}", xid.code,
                                        xid.count, local_time(xid.last_at))));
  }
  return remarks;
}

Outcome gpu_ls(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, all_pages(*client, "/admin/gpus"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::GpuView>>(answer));
  Table table({{{"#", "#"}, Align::right},
               {{"MODEL", "型号"}},
               {{"STATE", "状态"}},
               {{"LOAD", "负载"}, Align::right},
               {{"VRAM USED", "显存用量"}, Align::right},
               {{"POWER", "功耗"}, Align::right},
               {{"HEAT", "温度"}, Align::right},
               {{"RENTER", "租户"}},
               {{"INSTANCE", "实例"}},
               {{"PCI", "PCI"}},
               {{"UUID", "UUID"}},
               {{"", ""}, Align::left, 120}},
              context.language);
  for (const auto& gpu : page.items) {
    const CardReading reading = gpu.reading.value_or(CardReading{});
    table.add({std::to_string(gpu.card.card_index), gpu.card.model,
               context.in(gpu_state_text(gpu.card.state)), percent(reading.gpu_percent),
               bytes(reading.memory_used_bytes) + " / " + for_people_bytes(gpu.card.vram_bytes),
               watts(reading.power_milliwatts), celsius(reading.temperature_celsius),
               gpu.card.renter.empty() ? "-" : gpu.card.renter,
               gpu.card.instance_id ? gpu.card.instance_id->text : "-", gpu.card.pci_address,
               gpu.card.uuid.text, remarks_of(context, gpu)});
  }
  print(table.text());
  return kDone;
}

std::string owner_of(const Context& context, const wire::GpuProcessView& process) {
  if (process.instance_id) return process.renter;
  return context.in(process.container.empty() ? Text{"(host)", "（主机）"}
                                              : Text{"(stranger)", "（外部容器）"});
}

std::string user_of(const wire::GpuProcessView& process) {
  if (!process.uid) return kUnknown;
  return process.user.empty() ? std::to_string(*process.uid) : process.user;
}

Outcome gpu_ps(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, all_pages(*client, "/admin/gpu-processes"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::GpuProcessView>>(answer));
  if (page.items.empty()) {
    context.note({"No process uses a card.", "没有进程在使用显卡。"});
    return kDone;
  }
  Table table({{{"#", "#"}, Align::right},
               {{"PID", "PID"}, Align::right},
               {{"COMMAND", "命令"}},
               {{"VRAM", "显存"}, Align::right},
               {{"RENTER", "租户"}},
               {{"INSTANCE", "实例"}},
               {{"USER", "用户"}},
               {{"", ""}, Align::left, 60}},
              context.language);
  for (const auto& process : page.items) {
    table.add({std::to_string(process.card_index), std::to_string(process.pid), process.command,
               bytes(process.memory_used_bytes), owner_of(context, process),
               process.instance_id ? process.instance_id->text
                                   : (process.container.empty() ? "-" : process.container),
               user_of(process),
               process.is_expected
                   ? ""
                   : context.in({"not the card of its instance", "该卡不属于其所在实例"})});
  }
  print(table.text());
  return kDone;
}

Outcome change_gpu(Context& context, const Arguments& arguments, const std::string& verb,
                   const Text& done) {
  TRY_ASSIGN(Client * client, context.client());
  std::string body = "{}";
  if (verb != "return") {
    wire::GpuRemovalRequest request;
    request.note = arguments.find("--note");
    if (arguments.has("--now")) request.ends_run = true;
    if (request.ends_run) {
      TRY_ASSIGN(const bool agreed, context.confirm({"Stop whoever rents this card, now?",
                                                     "立即停止正在使用该卡的实例？"}));
      if (!agreed) return declined(context);
    }
    body = encode(request);
  }
  TRY_ASSIGN(
      const std::string answer,
      client->post("/admin/gpus/" + path_segment(arguments.text("CARD")) + "/" + verb, body));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto gpu, decode<wire::GpuView>(answer));
  context.put(fmt::format("{}: {}", gpu.card.uuid.text, context.in(done)));
  return kDone;
}

Outcome gpu_quarantine(Context& context, const Arguments& arguments) {
  return change_gpu(context, arguments, "quarantine", {"out of the market", "已移出市场"});
}
Outcome gpu_exclude(Context& context, const Arguments& arguments) {
  return change_gpu(context, arguments, "exclude", {"kept out of the market", "已排除"});
}
Outcome gpu_return(Context& context, const Arguments& arguments) {
  return change_gpu(context, arguments, "return", {"back in the market", "已恢复出租"});
}

// ---- top ----

std::string value_of(const wire::UsageView& view, const char* name, const char* form,
                     double unit = 1) {
  const auto found = view.values.find(name);
  if (found == view.values.end()) return kUnknown;
  return fmt::format(fmt::runtime(form), found->second / unit);
}

std::string bytes_of(const wire::UsageView& view, const char* name) {
  const auto found = view.values.find(name);
  if (found == view.values.end()) return kUnknown;
  return for_people_bytes(static_cast<int64_t>(found->second));
}

std::string usage_table(const Context& context, const std::vector<wire::UsageView>& views) {
  Table table({{{"ID", "ID"}},
               {{"NAME", "名称"}, Align::left, 32},
               {{"GPU", "GPU"}, Align::right},
               {{"VRAM", "显存"}, Align::right},
               {{"POWER", "功耗"}, Align::right},
               {{"CPU", "CPU"}, Align::right},
               {{"RAM", "内存"}, Align::right},
               {{"READ/s", "读/秒"}, Align::right},
               {{"WRITTEN/s", "写/秒"}, Align::right},
               {{"IN/s", "入/秒"}, Align::right},
               {{"OUT/s", "出/秒"}, Align::right},
               {{"SSH", "SSH"}, Align::right}},
              context.language);
  for (const auto& view : views) {
    table.add(
        {view.id.text, view.name, value_of(view, "gpu_percent", "{:.0f}%"),
         bytes_of(view, "gpu_memory_used_bytes"), value_of(view, "gpu_power_watts", "{:.0f} W"),
         value_of(view, "cpu_percent", "{:.0f}%"), bytes_of(view, "memory_used_bytes"),
         bytes_of(view, "disk_read_bytes_per_second"),
         bytes_of(view, "disk_written_bytes_per_second"),
         bytes_of(view, "network_received_bytes_per_second"),
         bytes_of(view, "network_sent_bytes_per_second"), value_of(view, "sessions", "{:.0f}")});
  }
  return table.text();
}

std::string one_table(const Context& context, const wire::UsageView& view) {
  std::string out = usage_table(context, {view});
  Table cards({{{"#", "#"}, Align::right},
               {{"MODEL", "型号"}},
               {{"LOAD", "负载"}, Align::right},
               {{"VRAM USED", "显存用量"}, Align::right},
               {{"POWER", "功耗"}, Align::right},
               {{"HEAT", "温度"}, Align::right},
               {{"CLOCK", "频率"}, Align::right}},
              context.language);
  for (const auto& gpu : view.cards) {
    const CardReading reading = gpu.reading.value_or(CardReading{});
    cards.add({std::to_string(gpu.card.card_index), gpu.card.model, percent(reading.gpu_percent),
               bytes(reading.memory_used_bytes) + " / " + for_people_bytes(gpu.card.vram_bytes),
               watts(reading.power_milliwatts), celsius(reading.temperature_celsius),
               reading.sm_clock_mhz ? fmt::format("{} MHz", *reading.sm_clock_mhz) : kUnknown});
  }
  if (!view.cards.empty()) out += "\n" + cards.text();
  Table processes({{{"#", "#"}, Align::right},
                   {{"USER", "用户"}},
                   {{"COMMAND", "命令"}},
                   {{"VRAM", "显存"}, Align::right}},
                  context.language);
  for (const auto& process : view.processes) {
    processes.add({std::to_string(process.card_index), user_of(process), process.command,
                   bytes(process.memory_used_bytes)});
  }
  if (!view.processes.empty()) out += "\n" + processes.text();
  return out;
}

Result<std::vector<wire::UsageView>> look(Client& client, const std::optional<InstanceId>& only) {
  std::vector<InstanceId> ids;
  if (only) {
    ids.push_back(*only);
  } else {
    TRY_ASSIGN(const std::string answer, all_pages(client, "/instances"));
    TRY_ASSIGN(const auto page, decode<wire::Page<wire::InstanceView>>(answer));
    for (const auto& instance : page.items) {
      if (instance.observed == Observed::running) ids.push_back(instance.id);
    }
  }
  std::vector<wire::UsageView> views;
  for (const InstanceId& id : ids) {
    TRY_ASSIGN(const std::string answer, client.get("/instances/" + id.text + "/now"));
    TRY_ASSIGN(views.emplace_back(), decode<wire::UsageView>(answer));
  }
  return views;
}

Outcome top(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  std::optional<InstanceId> only;
  if (const auto typed = arguments.find("ID")) {
    TRY_ASSIGN(const wire::InstanceView view, find_instance(*client, *typed));
    only = view.id;
  }
  if (context.json && only) {
    TRY_ASSIGN(const std::string answer, client->get("/instances/" + only->text + "/now"));
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto every, arguments.number("--every", 1, 3600));
  while (true) {
    TRY_ASSIGN(const auto views, look(*client, only));
    if (views.empty()) {
      context.note({"Nothing of yours runs.", "您没有正在运行的实例。"});
    } else {
      print(only ? one_table(context, views.front()) : usage_table(context, views));
    }
    if (!every) return kDone;
    std::this_thread::sleep_for(std::chrono::seconds(*every));
    context.put("");
  }
}

Command gpu_row(std::string path, Text summary, Outcome (*run)(Context&, const Arguments&)) {
  return {.path = "admin gpu " + std::move(path),
          .group = Group::admin,
          .summary = std::move(summary),
          .run = run};
}

}  // namespace

void add_telemetry_commands(std::vector<Command>& to) {
  to.push_back({.path = "top",
                .group = Group::instances,
                .summary = {"what your instances use now", "实例当前的资源使用"},
                .positionals = {{"ID",
                                 {"one instance, with its cards and their processes",
                                  "某台实例，含显卡与进程"},
                                 Positional::Need::optional}},
                .options = {{"--every", "SECONDS", {"again and again", "每隔若干秒刷新"}}},
                .run = top});
  const Positional card{"CARD",
                        {"UUID, its beginning, or the card's number", "UUID、其开头或编号"}};
  const std::vector<Option> removal = {
      {"--note", "TEXT", {"why", "原因"}},
      {"--now", "", {"stop whoever rents it, uncharged from now", "立即停止其租户，即刻停止计费"}}};
  to.push_back(gpu_row(
      "ls", {"every card: state, load, who holds it", "所有显卡：状态、负载、占用者"}, gpu_ls));
  to.push_back(
      gpu_row("ps", {"every process on a card, and whose it is", "显卡上的进程及其归属"}, gpu_ps));
  to.push_back(gpu_row("quarantine", {"take a card out: something is wrong", "隔离有问题的显卡"},
                       gpu_quarantine));
  to.back().positionals = {card};
  to.back().options = removal;
  to.back().examples = {{"cardhour admin gpu quarantine 3 --note \"fan\"", {"", ""}}};
  to.push_back(
      gpu_row("exclude", {"keep a card out of the market", "将显卡排除在市场之外"}, gpu_exclude));
  to.back().positionals = {card};
  to.back().options = removal;
  to.push_back(gpu_row("return", {"put a card back into the market", "恢复出租"}, gpu_return));
  to.back().positionals = {card};
}

}  // namespace cardhour::cli
