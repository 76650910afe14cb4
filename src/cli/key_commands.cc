// ssh-key and token.
#include <cstdlib>

#include "base/enum_text.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/decode.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "wire/wire.h"

namespace cardhour::cli {
namespace {

Outcome ssh_key_ls(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, all_pages(*client, "/ssh-keys"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto keys, decode<wire::Page<wire::SshKeyView>>(answer));
  if (keys.items.empty()) {
    context.note({"No keys yet. Add one: cardhour ssh-key add ~/.ssh/id_ed25519.pub",
                  "还没有公钥。添加：cardhour ssh-key add ~/.ssh/id_ed25519.pub"});
    return kDone;
  }
  Table table({{{"ID", "ID"}},
               {{"NAME", "名称"}},
               {{"FINGERPRINT", "指纹"}, Align::left, 60},
               {{"ADDED", "添加时间"}}},
              context.language);
  for (const auto& key : keys.items) {
    table.add({key.id.text, key.name, key.fingerprint, local_time(key.created_at)});
  }
  print(table.text());
  return kDone;
}

Outcome ssh_key_add(Context& context, const Arguments& arguments) {
  const std::string path = arguments.text("FILE");
  std::optional<std::string> line;
  if (path == "-") {
    line = read_line();
  } else {
    TRY_ASSIGN(line, read_file(path));
  }
  if (!line) {
    return fail(ErrorCode::not_found, text("there is no file {}", "没有文件 {}", path),
                Text{"Make a key: ssh-keygen -t ed25519", "生成密钥：ssh-keygen -t ed25519"});
  }
  // Before it leaves this machine: the server would refuse it too, but then has seen it.
  if (line->find("PRIVATE KEY") != std::string::npos) {
    return invalid("FILE",
                   text("{} is a private key, which must stay here", "{} 是私钥，不能外传", path),
                   text("Give the public one: {}.pub", "请使用公钥：{}.pub", path));
  }
  while (!line->empty() && (line->back() == '\n' || line->back() == '\r')) line->pop_back();
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(
      const std::string answer,
      client->post("/ssh-keys", encode(wire::SshKeyRequest{*line, arguments.find("--name")})));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto key, decode<wire::SshKeyView>(answer));
  context.say(text("Added {} ({}).", "已添加 {}（{}）。", clean(key.name), clean(key.fingerprint)));
  return kDone;
}

// The id of a key by id, name or fingerprint.
Result<std::string> find_key(Client& client, const std::string& word) {
  TRY_ASSIGN(const std::string answer, all_pages(client, "/ssh-keys"));
  TRY_ASSIGN(const auto keys, decode<wire::Page<wire::SshKeyView>>(answer));
  std::optional<std::string> found;
  for (const auto& key : keys.items) {
    if (key.id.text == word || key.fingerprint == word) return key.id.text;
    if (key.name != word) continue;
    if (found) {
      return invalid("KEY", text("several keys are named {}", "有多个名为 {} 的公钥", clean(word)),
                     Text{"Use the ID: cardhour ssh-key ls", "请使用 ID：cardhour ssh-key ls"});
    }
    found = key.id.text;
  }
  if (found) return *found;
  return fail(ErrorCode::not_found, text("there is no key {}", "没有公钥 {}", clean(word)),
              Text{"See: cardhour ssh-key ls", "查看：cardhour ssh-key ls"});
}

Outcome ssh_key_rm(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string id, find_key(*client, arguments.text("KEY")));
  TRY(client->remove("/ssh-keys/" + path_segment(id)));
  context.say(text("Removed {}.", "已删除 {}。", id));
  return kDone;
}

Outcome token_ls(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, all_pages(*client, "/tokens"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto tokens, decode<wire::Page<wire::TokenView>>(answer));
  Table table({{{"ID", "ID"}},
               {{"KIND", "类型"}},
               {{"NAME", "名称"}},
               {{"MAY", "权限"}},
               {{"MADE", "创建时间"}},
               {{"UNTIL", "有效期至"}}},
              context.language);
  for (const auto& token : tokens.items) {
    table.add(
        {token.id.text,
         context.in(token.kind == TokenKind::session ? Text{"login", "登录"}
                                                     : Text{"token", "令牌"}),
         token.name, token.scopes, local_time(token.created_at),
         token.expires_at ? local_time(*token.expires_at) : context.in({"for good", "长期"})});
  }
  print(table.text());
  return kDone;
}

Outcome token_create(Context& context, const Arguments& arguments) {
  wire::TokenRequest request;
  request.name = arguments.text("NAME");
  request.scopes = arguments.find("--scopes");
  if (const auto lifetime = arguments.find("--for")) {
    TRY_ASSIGN(request.lifetime_ms, parse_duration(*lifetime));
  }
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->post("/tokens", encode(request)));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto made, decode<wire::TokenAnswer>(answer));
  context.put(made.token.reveal());
  context.note(text("It may: {}. It is shown this once; whoever has it acts in your name.",
                    "权限：{}。令牌只显示这一次，持有者可以您的名义操作。",
                    clean(made.about.scopes)));
  context.note(
      text("Take it back: cardhour token rm {}", "吊销：cardhour token rm {}", made.about.id.text));
  return kDone;
}

Outcome token_rm(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY(client->remove("/tokens/" + path_segment(arguments.text("ID"))));
  context.say(text("Revoked {}.", "已吊销 {}。", clean(arguments.text("ID"))));
  return kDone;
}

}  // namespace

void add_key_commands(std::vector<Command>& to) {
  to.push_back({.path = "ssh-key ls",
                .group = Group::account,
                .summary = {"your SSH keys", "SSH 公钥列表"},
                .run = ssh_key_ls});
  to.push_back({.path = "ssh-key add",
                .group = Group::account,
                .summary = {"add a public key; running instances get it at once",
                            "添加公钥，运行中的实例立即生效"},
                .positionals = {{"FILE",
                                 {"the public key's file; - for standard input",
                                  "公钥文件，- 表示标准输入"}}},
                .options = {{"--name", "NAME", {"else the key's comment", "默认取公钥的注释"}}},
                .examples = {{"cardhour ssh-key add ~/.ssh/id_ed25519.pub", {"", ""}}},
                .run = ssh_key_add});
  to.push_back({.path = "ssh-key rm",
                .group = Group::account,
                .summary = {"remove a key", "删除公钥"},
                .positionals = {{"KEY", {"its ID, name or fingerprint", "ID、名称或指纹"}}},
                .run = ssh_key_rm});
  to.push_back({.path = "token ls",
                .group = Group::account,
                .summary = {"your logins and API tokens", "登录会话与 API 令牌"},
                .run = token_ls});
  to.push_back(
      {.path = "token create",
       .group = Group::account,
       .summary = {"make an API token for a script", "为脚本创建 API 令牌"},
       .positionals = {{"NAME", {"what it is for", "用途"}}},
       .options = {{"--scopes",
                    "WORDS",
                    {"\"read instances money admin\" or some of them; else all of yours",
                     "read、instances、money、admin 中的若干个，默认为您的全部权限"}},
                   {"--for", "90d", {"valid that long; else for good", "有效时长，默认长期有效"}}},
       .examples = {{"cardhour token create ci --scopes \"read instances\" --for 90d", {"", ""}}},
       .run = token_create});
  to.push_back({.path = "token rm",
                .group = Group::account,
                .summary = {"revoke a token", "吊销令牌"},
                .positionals = {{"ID", {"the token's ID", "令牌 ID"}}},
                .run = token_rm});
}

}  // namespace cardhour::cli
