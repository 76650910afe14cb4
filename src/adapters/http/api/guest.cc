// What an instance may say about itself, with its own token.
#include "adapters/http/api/support.h"

namespace cardhour::http {
namespace {

Result<Response> guest_shutdown(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::GuestShutdownRequest>(request));
  const auto kind = body.kind == wire::ShutdownKind::reboot ? Instances::ShutdownKind::reboot
                                                            : Instances::ShutdownKind::poweroff;
  TRY(plane.instances.guest_shutdown(actor_of(request), kind));
  return no_content();
}

}  // namespace

void add_guest_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back(
      {.method = Method::post,
       .path = "/guest/shutdown",
       .permission = Permission::guest,
       .operation_id = "guest_shutdown",
       .summary = {"The instance is shutting down; billing ends now", "实例正在关机，立即停止计费"},
       .handler = on(plane, guest_shutdown),
       .request = request_schema_of<wire::GuestShutdownRequest>,
       .success_status = 204});
}

}  // namespace cardhour::http
