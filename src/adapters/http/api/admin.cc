// The operator's side: accounts, top-ups, invitations, hosts, cards, prices, instances.
#include "adapters/http/api/support.h"

namespace cardhour::http {
namespace {

Result<Response> account_list(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const PageAsked asked, page_of(request));
  TRY_ASSIGN(const auto rows, plane.accounts.page(asked.with_one_more()));
  std::vector<wire::AccountView> views;
  for (const Account& account : rows) {
    TRY_ASSIGN(const WalletView wallet, plane.wallet.view(account.id));
    views.push_back(render(account));
    views.back().available = wallet.available;
  }
  return page_answer(
      views, asked, [](const wire::AccountView& view) { return view; },
      [](const wire::AccountView& view) { return view.id.text; });
}

Result<Response> account_create(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::AccountRequest>(request));
  TRY_ASSIGN(const Account account,
             plane.accounts.create(actor_of(request), body.login, body.password,
                                   body.role.value_or(Role::renter)));
  return answer(201, render(account));
}

Result<Response> topup_create(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::TopUpRequest>(request));
  TRY_ASSIGN(const Account account, plane.accounts.find(body.account));
  TRY_ASSIGN(const LedgerTransaction booked,
             plane.wallet.top_up(actor_of(request), account.id, body.amount, body.note.value_or(""),
                                 idempotency_of(request)));
  return answer(201, render(booked, body.amount));
}

Result<Response> invitation_create(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const NewInvitation made, plane.accounts.invite(actor_of(request)));
  return answer(201, wire::InvitationView{made.invitation.id, made.code, made.invitation.created_at,
                                          made.invitation.expires_at});
}

Result<Response> host_list(ControlPlane& plane, const Request&) {
  TRY_ASSIGN(const auto hosts, plane.inventory.hosts());
  std::vector<wire::HostView> views;
  for (const Host& host : hosts) {
    views.push_back({host.id, host.name, host.cpu_total, host.memory_bytes, host.pool_total_bytes,
                     host.pool_used_bytes, host.driver_version, host.cuda_version,
                     host.last_seen_at, host.reachable});
  }
  return list_answer(std::move(views));
}

Result<Response> card_list(ControlPlane& plane, const Request&) {
  TRY_ASSIGN(const auto cards, plane.inventory.cards());
  std::vector<wire::CardView> views;
  for (const CardView& card : cards) views.push_back(render(card));
  return list_answer(std::move(views));
}

Result<Response> price_set(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::PriceRequest>(request));
  const std::string word = body.model.value_or("");
  const Mode mode = body.mode.value_or(Mode::on_demand);
  const GpuModel* known = plane.deps.catalog.by_word(word);
  const std::string model = known != nullptr ? known->key : word;
  TRY(plane.inventory.set_price(actor_of(request), model, mode, body.per_hour));
  return answer(200, wire::PriceView{model, mode, body.per_hour});
}

Result<InstanceFilter> filter_of(ControlPlane& plane, const Request& request) {
  InstanceFilter filter;
  TRY_ASSIGN(filter.with_purged, flag_of(request, "with_purged"));
  if (const auto account = request.query_value("account")) {
    TRY_ASSIGN(const Account found, plane.accounts.find(*account));
    filter.account = found.id;
  }
  return filter;
}

Result<Response> admin_instance_list(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const PageAsked asked, page_of(request));
  TRY_ASSIGN(const InstanceFilter filter, filter_of(plane, request));
  TRY_ASSIGN(const auto rows,
             plane.instances.page(actor_of(request), filter, asked.with_one_more()));
  return page_answer(
      rows, asked, [&](const InstanceView& view) { return http::render(view, request.language); },
      [](const InstanceView& view) { return view.instance.id.text; });
}

void add_account_rows(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/admin/accounts",
                .permission = Permission::admin,
                .operation_id = "account_list",
                .summary = {"All accounts with what they have left", "所有账户及可用余额"},
                .handler = on(plane, account_list),
                .response = page_schema<wire::AccountView>,
                .query = page_query()});
  to.push_back({.method = Method::post,
                .path = "/api/v1/admin/accounts",
                .permission = Permission::admin,
                .operation_id = "account_create",
                .summary = {"Make an account", "创建账户"},
                .handler = on(plane, account_create),
                .request = request_schema_of<wire::AccountRequest>,
                .response = schema_of<wire::AccountView>,
                .success_status = 201});
  to.push_back({.method = Method::post,
                .path = "/api/v1/admin/topups",
                .permission = Permission::admin,
                .operation_id = "topup_create",
                .summary = {"Top up a wallet", "为账户充值"},
                .handler = on(plane, topup_create),
                .request = request_schema_of<wire::TopUpRequest>,
                .response = schema_of<wire::TransactionView>,
                .success_status = 201,
                .idempotent_key = true});
  to.push_back({.method = Method::post,
                .path = "/api/v1/admin/invitations",
                .permission = Permission::admin,
                .operation_id = "invitation_create",
                .summary = {"Make an invitation code for one account", "创建邀请码，限用一次"},
                .handler = on(plane, invitation_create),
                .response = schema_of<wire::InvitationView>,
                .success_status = 201});
}

void add_machine_rows(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/admin/hosts",
                .permission = Permission::admin,
                .operation_id = "host_list",
                .summary = {"Hosts", "主机"},
                .handler = on(plane, host_list),
                .response = page_schema<wire::HostView>});
  to.push_back({.method = Method::get,
                .path = "/api/v1/admin/cards",
                .permission = Permission::admin,
                .operation_id = "card_list",
                .summary = {"Cards, and who holds them", "显卡及占用情况"},
                .handler = on(plane, card_list),
                .response = page_schema<wire::CardView>});
  to.push_back(
      {.method = Method::put,
       .path = "/api/v1/admin/prices",
       .permission = Permission::admin,
       .operation_id = "price_set",
       .summary = {"Set a price, for runs started from now on", "设定价格，对之后的开机生效"},
       .handler = on(plane, price_set),
       .request = request_schema_of<wire::PriceRequest>,
       .response = schema_of<wire::PriceView>});
  to.push_back({.method = Method::get,
                .path = "/api/v1/admin/instances",
                .permission = Permission::admin,
                .operation_id = "admin_instance_list",
                .summary = {"Everybody's instances, newest first", "所有实例，最新的在前"},
                .handler = on(plane, admin_instance_list),
                .response = page_schema<wire::InstanceView>,
                .query = page_query(
                    {{"account", {"only this one: login or id", "仅此账户：登录名或 ID"}},
                     {"with_purged", {"true: also those that are gone", "true：包含已清除的"}}})});
}

}  // namespace

void add_admin_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  add_account_rows(plane, to);
  add_machine_rows(plane, to);
}

}  // namespace cardhour::http
