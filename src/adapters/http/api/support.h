// What the endpoint files share: parsing and rendering between wire/ and app/. Included by
// the .cc files of this folder only (it pulls Boost.JSON in). Thread-safe: pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "adapters/http/http.h"
#include "adapters/http/json_codec.h"
#include "adapters/http/problem.h"
#include "adapters/http/router.h"
#include "app/control_plane.h"
#include "wire/wire.h"

namespace cardhour::http {

// Adds the rows of one resource.
void add_auth_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_market_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_estimate_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_instance_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_terminal_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_wallet_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_event_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_admin_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_telemetry_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_care_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_recovery_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
void add_guest_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);
// Last: the OpenAPI document describes what `to` holds then.
void add_meta_endpoints(ControlPlane& plane, std::vector<Endpoint>& to);

// A handler from a plain function.
inline Handler on(ControlPlane& plane, Result<Response> (*action)(ControlPlane&, const Request&)) {
  return [&plane, action](const Request& request) { return action(plane, request); };
}

// The JSON body; no body at all is an empty object.
template <class T>
Result<T> body_of(const Request& request) {
  return from_json<T>(request.body.empty() ? std::string_view("{}") : request.body);
}

template <class T>
Response answer(int status, const T& value) {
  return json_response(status, to_json_text(value));
}

// ---- requests ----

// Who asks; CHECKs that the router has authorized somebody.
const Actor& actor_of(const Request& request);
// Who asks, by the token that the router has checked: is it still good?
Result<Accounts::Authenticated> asker(ControlPlane& plane, const std::string& token_id);
// The session that asks. forbidden for API tokens: what could widen a token's own scopes
// (passwords, tokens) needs the login itself.
Result<Accounts::Authenticated> session_of(ControlPlane& plane, const Request& request);
Idempotency idempotency_of(const Request& request);

// `?after=` and `?limit=`. One row more than asked, so that page_answer knows whether a
// page follows.
struct PageAsked {
  std::string after;
  int limit = 0;

  Page with_one_more() const { return Page{after, limit + 1}; }
};
Result<PageAsked> page_of(const Request& request);
// "true" or "false"; false when absent.
Result<bool> flag_of(const Request& request, const std::string& name);

// The same, with its error blamed on that field of the input.
template <class T>
Result<T> in_field(const std::string& field, Result<T> result) {
  if (!result) result.error().field = field;
  return result;
}

// ---- answers ----

// A list that has no second page.
template <class T>
Response list_answer(std::vector<T> items) {
  return answer(200, wire::Page<T>{std::move(items), {}});
}

// Rows of a page, each through `render`; the cursor is what `cursor` says of the last row.
template <class Row, class Render, class Cursor>
Response page_answer(const std::vector<Row>& rows, const PageAsked& asked, Render render,
                     Cursor cursor) {
  wire::Page<decltype(render(rows.front()))> page;
  for (const Row& row : rows) {
    if (page.items.size() == static_cast<size_t>(asked.limit)) {
      page.next = cursor(rows[page.items.size() - 1]);
      break;
    }
    page.items.push_back(render(row));
  }
  return answer(200, page);
}

template <class T>
boost::json::value page_schema(SchemaComponents& components) {
  boost::json::object items{{"type", "array"}, {"items", schema_of<T>(components)}};
  boost::json::object next{{"type", "string"}};
  boost::json::object properties{{"items", std::move(items)}, {"next", std::move(next)}};
  return boost::json::object{{"type", "object"},
                             {"properties", std::move(properties)},
                             {"required", boost::json::array{"items"}}};
}
// The query parameters of pages.
std::vector<QueryParameter> page_query(std::vector<QueryParameter> more = {});

wire::AccountView render(const Account& account);
wire::TokenView render(const Token& token);
wire::CurrencyView render(const Currency& currency);
wire::GpuModelView render(const GpuModel& model);
wire::EventView render(const Event& event);
wire::TransactionView render(const LedgerTransaction& transaction, Money wallet_change);
wire::InstanceView render(const InstanceView& view, Language language);
wire::CardView render(const CardView& card);

}  // namespace cardhour::http
