#include "adapters/http/api/endpoints.h"

#include "adapters/http/api/support.h"
#include "adapters/http/browser.h"
#include "adapters/http/openapi.h"

namespace cardhour::http {

std::vector<Endpoint> make_endpoints(ControlPlane& plane) {
  std::vector<Endpoint> endpoints;
  add_auth_endpoints(plane, endpoints);
  add_market_endpoints(plane, endpoints);
  add_estimate_endpoints(plane, endpoints);
  add_instance_endpoints(plane, endpoints);
  add_terminal_endpoints(plane, endpoints);
  add_wallet_endpoints(plane, endpoints);
  add_event_endpoints(plane, endpoints);
  add_admin_endpoints(plane, endpoints);
  add_telemetry_endpoints(plane, endpoints);
  add_care_endpoints(plane, endpoints);
  add_recovery_endpoints(plane, endpoints);
  add_guest_endpoints(plane, endpoints);
  add_meta_endpoints(plane, endpoints);
  return endpoints;
}

std::vector<Endpoint> make_guest_endpoints(ControlPlane& plane) {
  std::vector<Endpoint> endpoints;
  add_guest_endpoints(plane, endpoints);
  return endpoints;
}

namespace {

// The text after "Bearer "; nullopt when there is none.
std::optional<std::string> bearer_of(const Request& request) {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view value = request.header("Authorization").value_or("");
  if (!value.starts_with(kScheme)) return std::nullopt;
  return std::string(value.substr(kScheme.size()));
}

// By a bearer token, a ticket, or the two secrets of a browser, in this order. What browsers
// bring counts only from our own pages.
Result<Accounts::Authenticated> authenticate(ControlPlane& plane, const Request& request) {
  if (const auto bearer = bearer_of(request)) return plane.accounts.authenticate(*bearer);
  if (request.ticket) {
    TRY(check_origin(request));
    TRY_ASSIGN(const TokenId session, plane.tickets.redeem(*request.ticket));
    return plane.accounts.authenticate(session);
  }
  const auto header = request.header(kSessionHeader);
  if (!header) return fail(authorize(nullptr, Permission::read).error());
  TRY(check_origin(request));
  return plane.accounts.authenticate(Credentials{std::string(*header), session_cookie(request)});
}

}  // namespace

Authorizer authorizer(ControlPlane& plane) {
  return [&plane](const Request& request, Permission permission) -> Result<Authorized> {
    if (permission == Permission::anyone) return Authorized{};
    TRY_ASSIGN(Accounts::Authenticated known, authenticate(plane, request));
    TRY(authorize(&known.actor, permission));
    Authorized authorized;
    authorized.token_id = known.token.text;
    authorized.actor_id =
        known.actor.instance ? known.actor.instance->text : known.actor.account.text;
    authorized.actor = std::make_shared<const Actor>(std::move(known.actor));
    return authorized;
  };
}

std::string api_document(const std::vector<Endpoint>& endpoints) {
  return openapi_document(OpenApiInfo{"Cardhour", std::string(product_version()), Language::en},
                          endpoints);
}

std::string_view product_version() { return CARDHOUR_VERSION; }

}  // namespace cardhour::http
