#include "adapters/http/api/endpoints.h"

#include "adapters/http/api/support.h"
#include "adapters/http/openapi.h"
#include "base/enum_text.h"

namespace cardhour::http {

std::vector<Endpoint> make_endpoints(ControlPlane& plane) {
  std::vector<Endpoint> endpoints;
  add_auth_endpoints(plane, endpoints);
  add_market_endpoints(plane, endpoints);
  add_instance_endpoints(plane, endpoints);
  add_wallet_endpoints(plane, endpoints);
  add_event_endpoints(plane, endpoints);
  add_admin_endpoints(plane, endpoints);
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

Authorizer authorizer(ControlPlane& plane) {
  return [&plane](const Request& request, Permission permission) -> Result<Authorized> {
    if (permission == Permission::anyone) return Authorized{};
    const auto needed = enum_from<cardhour::Permission>(enum_text(permission));
    CHECK(needed.has_value(), "the permissions of http and domain are the same words");
    const std::string bearer = bearer_of(request);
    if (bearer.empty()) {
      TRY(authorize(nullptr, *needed));
      return Authorized{};
    }
    TRY_ASSIGN(Accounts::Authenticated known, plane.accounts.authenticate(bearer));
    TRY(authorize(&known.actor, *needed));
    Authorized authorized;
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
