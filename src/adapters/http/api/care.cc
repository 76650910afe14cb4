// What is wrong with an instance, and what happens when nothing happens in it.
#include "adapters/http/api/support.h"
#include "wire/telemetry.h"

namespace cardhour::http {
namespace {

Result<Response> diagnosis_get(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const InstanceView found, plane.instances.get(actor_of(request), request.param("id")));
  TRY_ASSIGN(const auto findings, plane.doctor.examine(found.instance));
  wire::DiagnosisView view{
      found.instance.id, found.instance.name, found.instance.observed == Observed::running, {}};
  const Language language = request.language;
  for (const Finding& finding : findings) {
    view.findings.push_back({finding.code, finding.weight, finding.what.in(language),
                             finding.evidence.in(language), finding.remedy.in(language),
                             "docs/diagnosis.md#" + finding.code});
  }
  return answer(200, view);
}

wire::IdleRuleView render(const IdleRule& rule) {
  return {rule.instance_id, rule.action,    rule.after,
          rule.hold_until,  rule.warned_at, rule.deadline};
}

Result<Response> idle_get(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto rule, plane.idle_rules.find(actor_of(request), request.param("id")));
  if (rule) return answer(200, render(*rule));
  return fail(ErrorCode::not_found, Text{"this instance has no idle rule", "该实例未设置空闲规则"},
              Text{"cardhour idle ID --after 30m", "cardhour idle ID --after 30m"});
}

Result<Response> idle_set(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::IdleRuleRequest>(request));
  TRY_ASSIGN(const IdleRule rule,
             plane.idle_rules.set(actor_of(request), request.param("id"),
                                  body.action.value_or(IdleAction::stop), body.after_ms));
  return answer(200, render(rule));
}

Result<Response> idle_clear(ControlPlane& plane, const Request& request) {
  TRY(plane.idle_rules.clear(actor_of(request), request.param("id")));
  return no_content();
}

Result<Response> idle_hold(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::HoldRequest>(request));
  TRY_ASSIGN(const IdleRule rule,
             plane.idle_rules.hold(actor_of(request), request.param("id"), body.for_ms));
  return answer(200, render(rule));
}

}  // namespace

void add_care_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/instances/{id}/diagnosis",
                .permission = Permission::read,
                .operation_id = "diagnosis_get",
                .summary = {"What is wrong with it, seen from outside", "从外部诊断实例问题"},
                .handler = on(plane, diagnosis_get),
                .response = schema_of<wire::DiagnosisView>});
  const std::string path = "/api/v1/instances/{id}/idle";
  to.push_back({.method = Method::get,
                .path = path,
                .permission = Permission::read,
                .operation_id = "idle_get",
                .summary = {"Its idle rule, and where its warning stands", "空闲规则及警告状态"},
                .handler = on(plane, idle_get),
                .response = schema_of<wire::IdleRuleView>});
  to.push_back({.method = Method::put,
                .path = path,
                .permission = Permission::instances,
                .operation_id = "idle_set",
                .summary = {"What happens when nothing happens in it", "设置空闲时的处理方式"},
                .handler = on(plane, idle_set),
                .request = request_schema_of<wire::IdleRuleRequest>,
                .response = schema_of<wire::IdleRuleView>});
  to.push_back({.method = Method::delete_,
                .path = path,
                .permission = Permission::instances,
                .operation_id = "idle_clear",
                .summary = {"No idle rule", "取消空闲规则"},
                .handler = on(plane, idle_clear),
                .success_status = 204});
  to.push_back({.method = Method::post,
                .path = "/api/v1/instances/{id}/hold",
                .permission = Permission::instances,
                .operation_id = "idle_hold",
                .summary = {"No idle warning for a while", "在一段时间内不因空闲关机"},
                .handler = on(plane, idle_hold),
                .request = request_schema_of<wire::HoldRequest>,
                .response = schema_of<wire::IdleRuleView>});
}

}  // namespace cardhour::http
