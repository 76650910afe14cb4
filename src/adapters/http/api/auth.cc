// Logins, the account that asks, its tokens and SSH keys.
#include "adapters/http/api/support.h"
#include "adapters/http/browser.h"

namespace cardhour::http {
namespace {

Result<Response> auth_login(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::LoginRequest>(request));
  TRY_ASSIGN(NewToken made,
             plane.accounts.login(body.login, body.password, request.client_address));
  TRY_ASSIGN(const Account account, plane.accounts.get(made.token.account_id));
  return answer(201, wire::TokenAnswer{made.text, render(made.token), render(account)});
}

Result<Response> auth_logout(ControlPlane& plane, const Request& request) {
  TRY(plane.accounts.logout(TokenId{request.token_id}));
  Response response = no_content();
  if (request.header(kSessionHeader)) {
    response.headers.set("Set-Cookie", clear_session_cookie(request));
  }
  return response;
}

// The origin matters here too: another site must not log a browser into an account of its own.
Result<Response> auth_browser_login(ControlPlane& plane, const Request& request) {
  TRY(check_origin(request));
  TRY_ASSIGN(const auto body, body_of<wire::LoginRequest>(request));
  TRY_ASSIGN(NewBrowserSession made,
             plane.accounts.browser_login(body.login, body.password, request.client_address));
  TRY_ASSIGN(const Account account, plane.accounts.get(made.token.account_id));
  Response response = answer(
      201, wire::BrowserSessionAnswer{made.header_secret, render(made.token), render(account)});
  response.headers.set("Set-Cookie", set_session_cookie(request, made.cookie_secret.reveal(),
                                                        plane.deps.policy.session));
  return response;
}

Result<Response> auth_ticket(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(NewTicket made, plane.tickets.issue(TokenId{request.token_id}));
  return answer(201, wire::TicketAnswer{made.text, made.expires_at});
}

Result<Response> auth_register(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::RegisterRequest>(request));
  const std::string code = body.invitation ? body.invitation->reveal() : "";
  TRY_ASSIGN(const Account account,
             plane.accounts.register_renter(body.login, body.password, code));
  return answer(201, render(account));
}

Result<Response> me_get(ControlPlane& plane, const Request& request) {
  const Actor& actor = actor_of(request);
  TRY_ASSIGN(const Account account, plane.accounts.get(actor.account));
  return answer(200, wire::MeView{render(account), to_text(actor.scopes),
                                  render(plane.deps.policy.currency)});
}

Result<Response> password_set(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto session, session_of(plane, request));
  TRY_ASSIGN(const auto body, body_of<wire::PasswordRequest>(request));
  TRY(plane.accounts.change_password(session.actor, session.token, body.old_password,
                                     body.new_password, request.client_address));
  return no_content();
}

Result<Response> token_list(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto tokens, plane.accounts.tokens(actor_of(request)));
  std::vector<wire::TokenView> views;
  for (const Token& token : tokens) views.push_back(render(token));
  return list_answer(std::move(views));
}

Result<Response> token_create(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto session, session_of(plane, request));
  TRY_ASSIGN(const auto body, body_of<wire::TokenRequest>(request));
  const std::string scopes = body.scopes.value_or(to_text(session.actor.scopes));
  TRY_ASSIGN(NewToken made,
             plane.accounts.create_token(session.actor, body.name, scopes, body.lifetime_ms));
  TRY_ASSIGN(const Account account, plane.accounts.get(session.actor.account));
  return answer(201, wire::TokenAnswer{made.text, render(made.token), render(account)});
}

Result<Response> token_delete(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto session, session_of(plane, request));
  TRY(plane.accounts.delete_token(session.actor, request.param("id")));
  return no_content();
}

wire::SshKeyView render(const SshKey& key) {
  return {key.id, key.name, key.public_key, key.fingerprint, key.created_at};
}

Result<Response> ssh_key_list(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto keys, plane.accounts.ssh_keys(actor_of(request)));
  std::vector<wire::SshKeyView> views;
  for (const SshKey& key : keys) views.push_back(render(key));
  return list_answer(std::move(views));
}

Result<Response> ssh_key_add(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::SshKeyRequest>(request));
  TRY_ASSIGN(const SshKey key, plane.accounts.add_ssh_key(actor_of(request), body.name.value_or(""),
                                                          body.public_key));
  return answer(201, render(key));
}

Result<Response> ssh_key_delete(ControlPlane& plane, const Request& request) {
  TRY(plane.accounts.delete_ssh_key(actor_of(request), request.param("id")));
  return no_content();
}

void add_login_rows(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::post,
                .path = "/api/v1/auth/login",
                .permission = Permission::anyone,
                .operation_id = "auth_login",
                .summary = {"Log in", "登录"},
                .handler = on(plane, auth_login),
                .request = request_schema_of<wire::LoginRequest>,
                .response = schema_of<wire::TokenAnswer>,
                .success_status = 201});
  to.push_back({.method = Method::post,
                .path = "/api/v1/auth/browser-login",
                .permission = Permission::anyone,
                .operation_id = "auth_browser_login",
                .summary = {"Log in from the console: one secret in the answer, one in a cookie",
                            "控制台登录：一个密钥在响应中，另一个在 Cookie 中"},
                .handler = on(plane, auth_browser_login),
                .request = request_schema_of<wire::LoginRequest>,
                .response = schema_of<wire::BrowserSessionAnswer>,
                .success_status = 201});
  to.push_back({.method = Method::post,
                .path = "/api/v1/auth/tickets",
                .permission = Permission::read,
                .operation_id = "ticket_create",
                .summary = {"A ticket that stands for the session once, within 30 s",
                            "一次性票据，30 秒内有效"},
                .handler = on(plane, auth_ticket),
                .response = schema_of<wire::TicketAnswer>,
                .success_status = 201});
  to.push_back({.method = Method::post,
                .path = "/api/v1/auth/logout",
                .permission = Permission::read,
                .operation_id = "auth_logout",
                .summary = {"End the token that asks", "注销当前令牌"},
                .handler = on(plane, auth_logout),
                .success_status = 204});
  to.push_back({.method = Method::post,
                .path = "/api/v1/auth/register",
                .permission = Permission::anyone,
                .operation_id = "auth_register",
                .summary = {"Make an account, where the deployment lets one", "注册账户"},
                .handler = on(plane, auth_register),
                .request = request_schema_of<wire::RegisterRequest>,
                .response = schema_of<wire::AccountView>,
                .success_status = 201});
  to.push_back({.method = Method::get,
                .path = "/api/v1/me",
                .permission = Permission::read,
                .operation_id = "me_get",
                .summary = {"Who asks", "当前账户"},
                .handler = on(plane, me_get),
                .response = schema_of<wire::MeView>});
  to.push_back(
      {.method = Method::put,
       .path = "/api/v1/me/password",
       .permission = Permission::read,
       .operation_id = "password_set",
       .summary = {"Change the password; ends all other sessions", "修改密码，并注销其他会话"},
       .handler = on(plane, password_set),
       .request = request_schema_of<wire::PasswordRequest>,
       .success_status = 204});
}

void add_token_rows(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/tokens",
                .permission = Permission::read,
                .operation_id = "token_list",
                .summary = {"Sessions and API tokens", "会话和 API 令牌"},
                .handler = on(plane, token_list),
                .response = page_schema<wire::TokenView>});
  to.push_back({.method = Method::post,
                .path = "/api/v1/tokens",
                .permission = Permission::read,
                .operation_id = "token_create",
                .summary = {"Make an API token (needs a session)", "创建 API 令牌（需登录会话）"},
                .handler = on(plane, token_create),
                .request = request_schema_of<wire::TokenRequest>,
                .response = schema_of<wire::TokenAnswer>,
                .success_status = 201});
  to.push_back({.method = Method::delete_,
                .path = "/api/v1/tokens/{id}",
                .permission = Permission::read,
                .operation_id = "token_delete",
                .summary = {"Revoke a token (needs a session)", "吊销令牌（需登录会话）"},
                .handler = on(plane, token_delete),
                .success_status = 204});
}

void add_ssh_key_rows(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/ssh-keys",
                .permission = Permission::read,
                .operation_id = "ssh_key_list",
                .summary = {"SSH keys", "SSH 公钥列表"},
                .handler = on(plane, ssh_key_list),
                .response = page_schema<wire::SshKeyView>});
  to.push_back({.method = Method::post,
                .path = "/api/v1/ssh-keys",
                .permission = Permission::instances,
                .operation_id = "ssh_key_add",
                .summary = {"Add an SSH key; running instances get it at once",
                            "添加 SSH 公钥，运行中的实例立即生效"},
                .handler = on(plane, ssh_key_add),
                .request = request_schema_of<wire::SshKeyRequest>,
                .response = schema_of<wire::SshKeyView>,
                .success_status = 201});
  to.push_back({.method = Method::delete_,
                .path = "/api/v1/ssh-keys/{id}",
                .permission = Permission::instances,
                .operation_id = "ssh_key_delete",
                .summary = {"Remove an SSH key", "删除 SSH 公钥"},
                .handler = on(plane, ssh_key_delete),
                .success_status = 204});
}

}  // namespace

void add_auth_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  add_login_rows(plane, to);
  add_token_rows(plane, to);
  add_ssh_key_rows(plane, to);
}

}  // namespace cardhour::http
