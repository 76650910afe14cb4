#include "bin/docs.h"

#include "adapters/http/api/endpoints.h"
#include "adapters/sql/sql_store.h"
#include "adapters/system/clock.h"
#include "adapters/system/entropy.h"
#include "app/control_plane.h"
#include "bin/backends.h"

namespace cardhour {

Result<std::string> openapi_text() {
  // The endpoints are data, but stand over a control plane: one that is never asked.
  crypto_init();
  SystemClock clock;
  SystemEntropy entropy;
  ServeOptions nothing;
  nothing.engine = ServeOptions::EngineKind::sim;
  nothing.gpus = ServeOptions::GpuKind::none;
  TRY_ASSIGN(const Backends backends, make_backends(nothing, PortRange{}, clock, ""));
  TRY_ASSIGN(const auto store, open_sqlite(":memory:"));
  const Policy policy;
  const Catalog catalog;
  const NetworkPlan network;
  Deps deps{*store, *backends.engine, clock,   entropy, *backends.probe,
            policy, catalog,          network, {}};
  deps.password_cost = PasswordCost::cheap;
  ControlPlane plane(deps);
  return http::api_document(http::make_endpoints(plane));
}

}  // namespace cardhour
