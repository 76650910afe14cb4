// admin: users, money, machines, prices, instances. The server checks who may.
#include <fmt/format.h>

#include "base/enum_text.h"
#include "base/size.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/instance_table.h"
#include "cli/market.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "wire/wire.h"

namespace cardhour::cli {
namespace {

Outcome user_ls(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, all_pages(*client, "/admin/accounts"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::AccountView>>(answer));
  Table table({{{"LOGIN", "登录名"}},
               {{"ROLE", "角色"}},
               {{"STATE", "状态"}},
               {{"AVAILABLE", "可用余额"}, Align::right},
               {{"SINCE", "注册时间"}},
               {{"ID", "ID"}}},
              context.language);
  for (const auto& account : page.items) {
    table.add({account.login,
               context.in(account.role == Role::admin ? Text{"operator", "运营者"}
                                                      : Text{"renter", "租户"}),
               context.in(account.state == AccountState::active ? Text{"active", "正常"}
                                                                : Text{"suspended", "已停用"}),
               account.available ? format(context.currency(), *account.available) : "",
               local_time(account.created_at), account.id.text});
  }
  print(table.text());
  return kDone;
}

Result<Secret> first_password(const Context& context, const Arguments& arguments) {
  if (arguments.has("--password-stdin")) return read_secret();
  TRY_ASSIGN(Secret first, ask_secret(context.in({"Their password: ", "该用户的密码："})));
  TRY_ASSIGN(const Secret second, ask_secret(context.in({"The same again: ", "再输入一次："})));
  if (first.reveal() == second.reveal()) return first;
  return invalid("password", Text{"the two passwords differ", "两次输入的密码不一致"});
}

Outcome user_add(Context& context, const Arguments& arguments) {
  wire::AccountRequest request;
  request.login = arguments.text("LOGIN");
  if (const auto role = arguments.find("--role")) request.role = enum_from<Role>(*role);
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(request.password, first_password(context, arguments));
  TRY_ASSIGN(const std::string answer, client->post("/admin/accounts", encode(request)));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto account, decode<wire::AccountView>(answer));
  const std::string login = clean(account.login);
  context.say(text("Made the account {}.", "已创建账户 {}。", login));
  context.note(text("Give it money: cardhour admin topup {} 100",
                    "充值：cardhour admin topup {} 100", login));
  return kDone;
}

Outcome topup(Context& context, const Arguments& arguments) {
  wire::TopUpRequest request;
  request.account = arguments.text("USER");
  TRY_ASSIGN(request.amount, parse_money(arguments.text("AMOUNT")));
  request.note = arguments.find("--note");
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const bool agreed,
             context.confirm(text("Top {} up by {}?", "为 {} 充值 {}？", clean(request.account),
                                  format(context.currency(), request.amount))));
  if (!agreed) return declined(context);
  TRY_ASSIGN(const std::string answer,
             client->post("/admin/topups", encode(request), Effect::creates_or_pays));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto booked, decode<wire::TransactionView>(answer));
  context.say(text("Topped {} up by {} ({}).", "已为 {} 充值 {}（{}）。", clean(request.account),
                   format(context.currency(), booked.amount), booked.id.text));
  return kDone;
}

Outcome invite(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->post("/admin/invitations", "{}"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto made, decode<wire::InvitationView>(answer));
  context.put(made.code.reveal());
  context.note(
      text("Good for one account until {}. It is shown this once. They type:\n"
           "  cardhour register {} --invitation {}",
           "可注册一个账户，有效期至 {}，只显示这一次。对方执行：\n"
           "  cardhour register {} --invitation {}",
           local_time(made.expires_at), client->server(), clean(made.code.reveal())));
  return kDone;
}

std::string used_of(int64_t used, int64_t total) {
  return for_people_bytes(used) + " / " + for_people_bytes(total);
}

Outcome host_ls(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, all_pages(*client, "/admin/hosts"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::HostView>>(answer));
  Table table({{{"HOST", "主机"}},
               {{"STATE", "状态"}},
               {{"LAST SEEN", "最近应答"}},
               {{"CPU", "CPU"}, Align::right},
               {{"RAM", "内存"}, Align::right},
               {{"DISK USED", "磁盘用量"}, Align::right},
               {{"DRIVER/CUDA", "驱动/CUDA"}},
               {{"ID", "ID"}}},
              context.language);
  for (const auto& host : page.items) {
    table.add({host.name, context.in(host.reachable ? Text{"ok", "正常"} : Text{"silent", "失联"}),
               local_time(host.last_seen_at), std::to_string(host.cpu_total),
               for_people_bytes(host.memory_bytes),
               used_of(host.pool_used_bytes, host.pool_total_bytes),
               host.driver_version + "/" + host.cuda_version, host.id.text});
  }
  print(table.text());
  return kDone;
}

Text card_state_text(const std::string& state) {
  if (state == "free") return {"free", "空闲"};
  if (state == "rented") return {"rented", "已租"};
  if (state == "promised") return {"promised", "待交付"};
  if (state == "sick") return {"sick", "故障"};
  if (state == "absent") return {"absent", "不在位"};
  return {state, state};
}

Outcome gpu_ls(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, all_pages(*client, "/admin/cards"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::CardView>>(answer));
  Table table({{{"HOST", "主机"}},
               {{"#", "#"}, Align::right},
               {{"MODEL", "型号"}},
               {{"VRAM", "显存"}, Align::right},
               {{"STATE", "状态"}},
               {{"RENTER", "租户"}},
               {{"INSTANCE", "实例"}},
               {{"PCI", "PCI"}},
               {{"UUID", "UUID"}},
               {{"", ""}, Align::left, 60}},
              context.language);
  for (const auto& card : page.items) {
    std::string remarks = card.simulated ? kSimulatedMark : "";
    if (!card.fault.empty()) remarks += (remarks.empty() ? "" : "; ") + card.fault;
    table.add({card.host_id.text, std::to_string(card.card_index), card.model,
               for_people_bytes(card.vram_bytes), context.in(card_state_text(card.state)),
               card.renter.empty() ? "-" : card.renter,
               card.instance_id ? card.instance_id->text : "-", card.pci_address, card.uuid.text,
               remarks});
  }
  print(table.text());
  return kDone;
}

Outcome price_set(Context& context, const Arguments& arguments) {
  wire::PriceRequest request;
  TRY_ASSIGN(request.per_hour, parse_money(arguments.text("PRICE")));
  const std::string model = arguments.text("MODEL");
  if (model == "no-gpu") {
    request.mode = Mode::no_gpu;
  } else {
    request.model = model;
  }
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->put("/admin/prices", encode(request)));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto set, decode<wire::PriceView>(answer));
  context.say(text("{}: {}, for runs started from now on. What runs keeps its price.",
                   "{}：{}，对之后的开机生效，运行中的实例价格不变。",
                   set.mode == Mode::no_gpu ? "no-gpu" : clean(set.model),
                   per_hour(context.currency(), set.per_hour)));
  return kDone;
}

Outcome instance_ls(Context& context, const Arguments& arguments) {
  Query query;
  if (const auto account = arguments.find("--user")) query["account"] = *account;
  if (arguments.has("--all")) query["with_purged"] = "true";
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, all_pages(*client, "/admin/instances", query));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::InstanceView>>(answer));
  print(instance_table(context, page.items, Owner::show));
  return kDone;
}

Command row(std::string path, Text summary, Outcome (*run)(Context&, const Arguments&)) {
  return {.path = "admin " + std::move(path),
          .group = Group::admin,
          .summary = std::move(summary),
          .run = run};
}

void add_user_commands(std::vector<Command>& to) {
  to.push_back(row("user ls", {"all accounts with their balance", "所有账户及余额"}, user_ls));
  to.push_back(row("user add", {"make an account", "创建账户"}, user_add));
  to.back().positionals = {{"LOGIN", {"the new login", "登录名"}}};
  to.back().options = {
      {"--role", "renter|admin", {"renter if absent", "角色，默认 renter"}, {"renter", "admin"}},
      {"--password-stdin", "", {"read the password from standard input", "从标准输入读取密码"}}};
  to.push_back(row("topup", {"put money into a wallet", "为账户充值"}, topup));
  to.back().positionals = {{"USER", {"login or ID", "登录名或 ID"}},
                           {"AMOUNT", {"e.g. 100 or 99.5", "金额，如 100 或 99.5"}}};
  to.back().options = {{"--note", "TEXT", {"e.g. the receipt's number", "备注，如收据号"}}};
  to.back().examples = {{"cardhour admin topup renter1 100 --note \"receipt 17\"", {"", ""}}};
  to.push_back(
      row("invite", {"a code with which one person may register", "生成一次性邀请码"}, invite));
}

}  // namespace

void add_admin_commands(std::vector<Command>& to) {
  add_user_commands(to);
  to.push_back(row("host ls",
                   {"hosts: load, driver, last sign of life", "主机：资源、驱动、最近应答"},
                   host_ls));
  to.push_back(row("gpu ls", {"every card, and who holds it", "所有显卡及占用者"}, gpu_ls));
  to.push_back(row("price ls", {"the price book", "价目表"}, show_prices));
  to.push_back(row("price set",
                   {"set a price per hour, for later starts", "设定每小时价格，对之后开机生效"},
                   price_set));
  to.back().positionals = {{"MODEL", {"the GPU model, or no-gpu", "显卡型号，或 no-gpu"}},
                           {"PRICE", {"per card and hour, e.g. 1.98", "每卡每小时，如 1.98"}}};
  to.back().examples = {{"cardhour admin price set 4090 1.98", {"", ""}},
                        {"cardhour admin price set no-gpu 0.10", {"", ""}}};
  to.push_back(row("instance ls", {"everybody's instances", "所有用户的实例"}, instance_ls));
  to.back().options = {{"--user", "LOGIN", {"only theirs", "仅此用户"}},
                       {"-a,--all", "", {"also those that are gone", "包含已清除的"}}};
}

}  // namespace cardhour::cli
