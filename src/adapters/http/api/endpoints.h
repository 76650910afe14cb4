// The API: every endpoint as data over the control plane, one .cc per resource, and who may
// call it. Handlers parse, call app/, render; they decide nothing.
// Adding an endpoint: its structs in wire/wire.h, a function and a row in the resource's
// .cc, then `cardhour docs openapi > api/openapi.json`. The api_test asks every row for
// "not logged in" and "not allowed" by itself.
// Thread-safe: handlers are called by every worker at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/http/router.h"
#include "app/control_plane.h"

namespace cardhour::http {

// All endpoints. `plane` must outlive them. Streams and waiting answers are woken by the
// server's EventHub, which Deps::changed notifies.
std::vector<Endpoint> make_endpoints(ControlPlane& plane);
// Only those of instances (/guest/*), for the listener on their bridge.
std::vector<Endpoint> make_guest_endpoints(ControlPlane& plane);

// Bearer tokens. Nobody passes but with a token whose scopes include the permission.
Authorizer authorizer(ControlPlane& plane);

// api/openapi.json.
std::string api_document(const std::vector<Endpoint>& endpoints);

// "0.1.0"
std::string_view product_version();

}  // namespace cardhour::http
