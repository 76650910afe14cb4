// admin: backups, restoring one, and what a restored one did not know. All but the restore ask
// the server, which checks who may.
#include "base/size.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/quote.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "wire/wire.h"

namespace cardhour::cli {
namespace {

Outcome backup_list(Context& context, Client& client) {
  TRY_ASSIGN(const std::string answer, client.get("/admin/backups"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::BackupView>>(answer));
  if (page.items.empty()) {
    context.note({"There is none yet.", "尚无备份。"});
    return kDone;
  }
  Table table({{{"FILE", "文件"}}, {{"MADE", "制作于"}}, {{"SIZE", "大小"}, Align::right}},
              context.language);
  for (const auto& file : page.items) {
    table.add({clean(file.name), local_time(file.made_at), for_people_bytes(file.bytes)});
  }
  print(table.text());
  return kDone;
}

Outcome backup(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  if (arguments.has("--list")) return backup_list(context, *client);
  TRY_ASSIGN(const std::string answer, client->post("/admin/backups", "{}"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto made, decode<wire::BackupView>(answer));
  context.say(text("Saved as {} ({}).", "已保存为 {}（{}）。", clean(made.name),
                   for_people_bytes(made.bytes)));
  context.note(
      {"It lies in the server's backup directory. secret.key is not in it, nor are the "
       "disks of instances.",
       "文件位于服务的备份目录。其中不含 secret.key，也不含实例磁盘。"});
  return kDone;
}

Outcome restore(Context& context, const Arguments& arguments) {
  if (context.local == nullptr || !context.local->restore) {
    return fail(ErrorCode::conflict, Text{"this program cannot restore", "该程序不支持恢复"});
  }
  const std::string file = arguments.text("FILE");
  TRY_ASSIGN(
      const bool agreed,
      context.confirm(text("Put {} in the place of the server's database? The present one "
                           "is kept beside it.",
                           "用 {} 替换服务的数据库？现有数据库会保留在旁边。", clean(file))));
  if (!agreed) return declined(context);
  TRY_ASSIGN(const Text done, context.local->restore(arguments.text("--data"), file));
  context.say(done);
  context.note(
      {"Start the server now. What runs in the engine and is not in this backup is held "
       "and not charged until you decide: cardhour admin adopted ls",
       "现在可以启动服务。引擎中存在而备份中没有的实例会被保留且不计费，等待您决定："
       "cardhour admin adopted ls"});
  return kDone;
}

Outcome adopted_ls(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->get("/admin/adoptions"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto page, decode<wire::Page<wire::AdoptionView>>(answer));
  if (page.items.empty()) {
    context.note({"Nothing waits for a decision.", "没有待决定的实例。"});
    return kDone;
  }
  Table table({{{"INSTANCE", "实例"}},
               {{"STATE", "状态"}},
               {{"CARDS", "显卡"}},
               {{"PORT", "端口"}, Align::right},
               {{"FOUND", "发现于"}},
               {{"HELD BY", "暂由"}},
               {{"ACCOUNT IN THE ENGINE", "引擎中的账户"}}},
              context.language);
  for (const auto& found : page.items) {
    table.add(
        {found.instance_id.text, context.in(state_text(found.observed)),
         cards_text(context, found.mode, found.gpu_model, static_cast<int>(found.cards.size())),
         std::to_string(found.ssh_port), local_time(found.found_at), clean(found.owner),
         clean(found.engine_account)});
  }
  print(table.text());
  return kDone;
}

Outcome answer_with_instance(Context& context, const std::string& answer, const Text& en_zh) {
  if (context.json) {
    context.put(answer);
  } else {
    context.say(en_zh);
  }
  return kDone;
}

Outcome adopted_keep(Context& context, const Arguments& arguments) {
  const std::string id = arguments.text("ID");
  wire::KeepRequest request;
  request.account = arguments.find("--account");
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer,
             client->post("/admin/adoptions/" + id + "/keep", encode(request)));
  TRY_ASSIGN(const auto view, decode<wire::InstanceView>(answer));
  return answer_with_instance(context, answer,
                              text("{} is {}'s, and is charged while it runs.",
                                   "{} 已归 {} 所有，运行时计费。", clean(id), clean(view.owner)));
}

Outcome adopted_remove(Context& context, const Arguments& arguments) {
  const std::string id = arguments.text("ID");
  TRY_ASSIGN(const bool agreed, context.confirm(text("Stop {} and put it into the bin?",
                                                     "关闭 {} 并移入回收站？", clean(id))));
  if (!agreed) return declined(context);
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->post("/admin/adoptions/" + id + "/remove", "{}"));
  return answer_with_instance(context, answer,
                              text("{} goes into the bin.", "{} 正在移入回收站。", clean(id)));
}

Command row(std::string path, Text summary, Outcome (*run)(Context&, const Arguments&)) {
  return {.path = "admin " + std::move(path),
          .group = Group::admin,
          .summary = std::move(summary),
          .run = run};
}

}  // namespace

void add_recovery_commands(std::vector<Command>& to) {
  to.push_back(row("backup", {"back the database up now", "立即备份数据库"}, backup));
  to.back().options = {{"--list", "", {"show the backups instead", "仅列出已有备份"}}};
  to.push_back(row("restore",
                   {"put a backup in the place of the database; on the server's machine, while it "
                    "is stopped",
                    "用备份替换数据库；在服务所在机器上、服务停止时运行"},
                   restore));
  to.back().positionals = {{"FILE", {"the backup", "备份文件"}}};
  to.back().options = {{"--data", "DIR", {"the server's data directory", "服务的数据目录"}}};
  to.back().examples = {
      {"cardhour admin restore /var/lib/cardhour/backups/cardhour-20261201T031500Z.db", {"", ""}}};
  to.push_back(row(
      "adopted ls",
      {"instances found in the engine that wait for a decision", "在引擎中发现、等待决定的实例"},
      adopted_ls));
  to.push_back(row("adopted keep",
                   {"give one to its renter; it is charged from now on", "归还租户，从现在起计费"},
                   adopted_keep));
  to.back().positionals = {{"ID", {"the instance", "实例 ID"}}};
  to.back().options = {
      {"--account",
       "LOGIN",
       {"whose it is; by default as the engine says", "归属账户，默认按引擎标签"}}};
  to.push_back(row("adopted remove", {"put one into the bin", "移入回收站"}, adopted_remove));
  to.back().positionals = {{"ID", {"the instance", "实例 ID"}}};
}

}  // namespace cardhour::cli
