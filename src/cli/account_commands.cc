// login, logout, register, whoami, passwd.
#include "base/enum_text.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/decode.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "wire/wire.h"

namespace cardhour::cli {
namespace {

const Option kLogin{"--login", "NAME", {"your login; else asked for", "登录名，默认会询问"}};
const Option kPasswordStdin{
    "--password-stdin", "", {"read the password from standard input", "从标准输入读取密码"}};
const Option kFingerprint{"--fingerprint",
                          "AB:CD:..",
                          {"trust the self-signed certificate with this SHA-256 fingerprint",
                           "信任具有此 SHA-256 指纹的自签名证书"}};

Result<std::string> server_of(const Context& context, const Arguments& arguments) {
  if (const auto typed = arguments.find("URL")) return normalize_server(*typed);
  if (context.server) return *context.server;
  if (const Profile* known = context.config.find(context.profile)) return known->server;
  return invalid("URL", Text{"which server?", "要登录哪个服务器？"},
                 Text{"For example: cardhour login http://127.0.0.1:8080",
                      "例如：cardhour login http://127.0.0.1:8080"});
}

Result<std::string> login_of(const Arguments& arguments, Language language) {
  if (const auto typed = arguments.find("--login")) return *typed;
  if (!input_is_terminal()) {
    return invalid("--login", Text{"whose login?", "缺少登录名"},
                   Text{"Add --login NAME.", "请加上 --login NAME。"});
  }
  remark(language == Language::zh ? "登录名：" : "Login: ");
  std::string typed = read_line();
  if (typed.empty()) return invalid("--login", Text{"no login was given", "没有输入登录名"});
  return typed;
}

Result<Secret> password_of(const Context& context, const Arguments& arguments,
                           const Text& question = {"Password: ", "密码："}) {
  if (arguments.has("--password-stdin")) return read_secret();
  return ask_secret(context.in(question));
}

// Asked twice, so that a slip of the finger locks nobody out.
Result<Secret> new_password_of(const Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Secret first, password_of(context, arguments, {"New password: ", "新密码："}));
  if (arguments.has("--password-stdin")) return first;
  TRY_ASSIGN(const Secret second, ask_secret(context.in({"The same again: ", "再输入一次："})));
  if (first.reveal() == second.reveal()) return first;
  return invalid("password", Text{"the two passwords differ", "两次输入的密码不一致"},
                 Text{"Run the command again.", "请重新执行命令。"});
}

Result<bool> trusts(const Context& context, const std::string& fingerprint) {
  if (!input_is_terminal()) return false;
  context.note(
      text("No known authority signed the server's certificate. Its fingerprint is\n"
           "  {}\nCompare it with the one that the server printed at start.",
           "该服务器的证书没有受信任的机构签名。其指纹为\n  {}\n"
           "请与服务器启动时打印的指纹核对。",
           fingerprint));
  Context asking;
  asking.language = context.language;
  return asking.confirm({"Is it the same?", "指纹一致吗？"});
}

// A server that answers, over a connection that is trusted; nobody is logged in yet.
Result<Client::Options> reach(Context& context, const Arguments& arguments) {
  Client::Options options;
  TRY_ASSIGN(options.server, server_of(context, arguments));
  options.language = context.language;
  options.version = program_version();
  options.fingerprint = arguments.find("--fingerprint");
  const Profile* known = context.config.find(context.profile);
  if (!options.fingerprint && known != nullptr && known->server == options.server) {
    options.fingerprint = known->fingerprint;
  }
  if (is_clear_text(options.server)) {
    context.note(text("Warning: {} is not encrypted: others on the way can read your password.",
                      "警告：{} 未加密，途中的其他人可以读取您的密码。", options.server));
  }
  context.use(options);
  TRY_ASSIGN(Client * client, context.open_client());
  Result<std::string> answer = client->get("/version");
  const std::string seen = client->refused_fingerprint();
  if (!answer && !seen.empty() && !options.fingerprint) {
    TRY_ASSIGN(const bool trusted, trusts(context, seen));
    if (!trusted) return fail(std::move(answer).error());
    options.fingerprint = seen;
    context.use(options);
    TRY_ASSIGN(client, context.open_client());
    answer = client->get("/version");
  }
  if (!answer) return fail(std::move(answer).error());
  TRY(decode<wire::VersionView>(*answer));
  return options;
}

// The profile in use, unless it belongs to another server: then one named after this one.
std::string profile_for(const Context& context, const std::string& server) {
  const Profile* known = context.config.find(context.profile);
  const bool other = known != nullptr && known->server != server &&
                     context.config.current.value_or("default") == context.profile;
  return other ? server.substr(server.find("://") + 3) : context.profile;
}

Status keep(Context& context, const Client::Options& options, const std::string& login) {
  const std::string name = profile_for(context, options.server);
  context.config.profiles[name] =
      Profile{options.server, login, options.token, options.fingerprint};
  context.config.current = name;
  return save_config(context.directory, context.config);
}

Status log_in(Context& context, Client::Options options, const std::string& login,
              const Secret& password) {
  TRY_ASSIGN(Client * client, context.open_client());
  TRY_ASSIGN(const std::string answer,
             client->post("/auth/login", encode(wire::LoginRequest{login, password})));
  TRY_ASSIGN(const auto made, decode<wire::TokenAnswer>(answer));
  options.token = made.token;
  TRY(keep(context, options, made.account.login));
  context.say(text("Logged in at {} as {}.", "已登录 {}，用户 {}。", options.server,
                   clean(made.account.login)));
  context.note(
      made.account.role == Role::admin
          ? Text{"Next: cardhour admin gpu ls, cardhour admin invite",
                 "接下来：cardhour admin gpu ls、cardhour admin invite"}
          : Text{"Next: cardhour offers, cardhour rent", "接下来：cardhour offers、cardhour rent"});
  return {};
}

// With an API token, which its owner made elsewhere.
Status adopt_token(Context& context, Client::Options options, const std::string& typed) {
  options.token = Secret(typed);
  if (typed == "-") {
    TRY_ASSIGN(options.token, read_secret());
  }
  context.use(options);
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->get("/me"));
  TRY_ASSIGN(const auto me, decode<wire::MeView>(answer));
  TRY(keep(context, options, me.account.login));
  context.say(text("Logged in at {} as {}, with a token that may: {}.",
                   "已登录 {}，用户 {}，令牌权限：{}。", options.server, clean(me.account.login),
                   clean(me.scopes)));
  return {};
}

Outcome login(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client::Options options, reach(context, arguments));
  if (const auto token = arguments.find("--token")) {
    TRY(adopt_token(context, std::move(options), *token));
    return kDone;
  }
  TRY_ASSIGN(const std::string name, login_of(arguments, context.language));
  TRY_ASSIGN(const Secret password, password_of(context, arguments));
  TRY(log_in(context, std::move(options), name, password));
  return kDone;
}

Outcome register_account(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client::Options options, reach(context, arguments));
  TRY_ASSIGN(const std::string name, login_of(arguments, context.language));
  TRY_ASSIGN(const Secret password, new_password_of(context, arguments));
  wire::RegisterRequest request{name, password, {}};
  if (const auto code = arguments.find("--invitation")) request.invitation = Secret(*code);
  TRY_ASSIGN(Client * client, context.open_client());
  TRY_ASSIGN(const std::string answer, client->post("/auth/register", encode(request)));
  TRY_ASSIGN(const auto account, decode<wire::AccountView>(answer));
  context.say(text("Made the account {}.", "已创建账户 {}。", clean(account.login)));
  TRY(log_in(context, std::move(options), name, password));
  return kDone;
}

Outcome logout(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  const Result<std::string> answer = client->post("/auth/logout", "{}");
  const bool over = answer || answer.error().code == ErrorCode::unauthenticated;
  const std::string server = client->server();
  // The name stays the current one: the next command must not act as somebody else.
  if (context.config.profiles.erase(context.profile) > 0) {
    TRY(save_config(context.directory, context.config));
  }
  if (!over) {
    context.note({"The login is forgotten here, but the server was not told: it stays valid there.",
                  "本机已忘记登录，但未能通知服务器，该登录在服务器上仍然有效。"});
    return fail(answer.error());
  }
  context.say(text("Logged out of {}.", "已退出 {}。", server));
  return kDone;
}

Outcome whoami(Context& context, const Arguments&) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const std::string answer, client->get("/me"));
  if (context.json) {
    context.put(answer);
    return kDone;
  }
  TRY_ASSIGN(const auto me, decode<wire::MeView>(answer));
  Facts facts(context.language);
  facts.add({"login", "登录名"}, me.account.login);
  facts.add({"id", "ID"}, me.account.id.text);
  facts.add({"role", "角色"}, context.in(me.account.role == Role::admin ? Text{"operator", "运营者"}
                                                                        : Text{"renter", "租户"}));
  facts.add({"may", "权限"}, me.scopes);
  facts.add({"server", "服务器"}, client->server());
  facts.add({"profile", "配置"}, context.profile);
  print(facts.text());
  return kDone;
}

Outcome passwd(Context& context, const Arguments& arguments) {
  TRY_ASSIGN(Client * client, context.client());
  TRY_ASSIGN(const Secret before,
             password_of(context, arguments, {"Present password: ", "当前密码："}));
  TRY_ASSIGN(const Secret after, new_password_of(context, arguments));
  TRY(client->put("/me/password", encode(wire::PasswordRequest{before, after})));
  context.say({"Changed. All other sessions have ended.", "密码已修改，其他会话均已注销。"});
  return kDone;
}

}  // namespace

void add_account_commands(std::vector<Command>& to) {
  const Positional url{
      "URL",
      {"the server, e.g. http://127.0.0.1:8080", "服务器，如 http://127.0.0.1:8080"},
      Positional::Need::optional};
  to.push_back(
      {.path = "login",
       .group = Group::start,
       .summary = {"log in; the login is kept for this user", "登录，并在本机保存登录状态"},
       .positionals = {url},
       .options = {kLogin,
                   kPasswordStdin,
                   {"--token",
                    "TOKEN",
                    {"an API token instead of a password; - reads it from standard input",
                     "使用 API 令牌代替密码，- 表示从标准输入读取"}},
                   kFingerprint},
       .examples = {{"cardhour login http://127.0.0.1:8080", {"", ""}},
                    {"cardhour login gpu.example.org --login renter1 --profile lab",
                     {"a second server, used with --profile lab",
                      "第二个服务器，用 --profile lab 选用"}}},
       .run = login});
  to.push_back(
      {.path = "register",
       .group = Group::start,
       .summary = {"make an account, where the server lets one", "注册账户（需服务器允许）"},
       .positionals = {url},
       .options = {kLogin,
                   {"--invitation", "CODE", {"the operator's code", "运营者给的邀请码"}},
                   kPasswordStdin,
                   kFingerprint},
       .examples = {{"cardhour register gpu.example.org --login renter1 --invitation CODE",
                     {"", ""}}},
       .run = register_account});
  to.push_back({.path = "logout",
                .group = Group::account,
                .summary = {"end the login, here and on the server", "退出登录"},
                .run = logout});
  to.push_back({.path = "whoami",
                .group = Group::account,
                .summary = {"who is logged in, and where", "当前登录的账户和服务器"},
                .run = whoami});
  to.push_back({.path = "passwd",
                .group = Group::account,
                .summary = {"change your password", "修改密码"},
                .options = {{"--password-stdin",
                             "",
                             {"two lines of standard input: the present one, the new one",
                              "从标准输入读取两行：当前密码和新密码"}}},
                .run = passwd});
}

}  // namespace cardhour::cli
