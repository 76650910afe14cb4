// About the server itself; open to anyone.
#include <algorithm>

#include "adapters/http/api/endpoints.h"
#include "adapters/http/api/support.h"

namespace cardhour::http {
namespace {

Result<Response> health_get(ControlPlane&, const Request&) {
  return answer(200, wire::HealthView{true, {}});
}

// From the last proofs of life, not by asking the engine anew: anyone may call this.
wire::HealthCheckView engine_check(ControlPlane& plane, const Result<std::vector<Host>>& hosts,
                                   Language language) {
  if (!hosts) {
    const Text unknown{"unknown while the database is down", "数据库不可用，状态未知"};
    return {"engine", false, unknown.in(language)};
  }
  if (hosts->empty()) {
    const Text unseen{"the engine has not answered yet", "引擎尚未应答"};
    return {"engine", false, unseen.in(language)};
  }
  const auto latest = std::max_element(
      hosts->begin(), hosts->end(),
      [](const Host& a, const Host& b) { return a.last_seen_at < b.last_seen_at; });
  if (!plane.deps.first_look->is_done()) {
    const Text looking{"not yet seen what runs since the start", "启动后尚未确认正在运行的实例"};
    return {"engine", false, looking.in(language)};
  }
  const Duration silent = plane.deps.clock.now() - latest->last_seen_at;
  if (silent <= plane.deps.policy.host_silent_after) return {"engine", true, ""};
  const std::string since = to_rfc3339(latest->last_seen_at);
  return {"engine", false, text("no answer since {}", "自 {} 起没有应答", since).in(language)};
}

// A backup that is due says so, and turns nobody away.
wire::HealthCheckView backup_check(ControlPlane& plane, Language language) {
  const Backups::Health health = plane.backups.health();
  if (!health.is_kept) return {"backup", true, Text{"none are kept", "未启用备份"}.in(language)};
  if (!health.newest) {
    return {"backup", !health.is_overdue, Text{"none yet", "尚无备份"}.in(language)};
  }
  const Duration age = plane.deps.clock.now() - *health.newest;
  return {"backup", !health.is_overdue,
          Text{"the newest is " + for_people(age, Language::en) + " old",
               "最新备份距今" + for_people(age, Language::zh)}
              .in(language)};
}

Result<Response> readiness_get(ControlPlane& plane, const Request& request) {
  const auto hosts = plane.inventory.hosts();
  wire::HealthView view;
  view.checks.push_back(
      {"database", hosts.has_value(), hosts ? "" : hosts.error().what.in(request.language)});
  view.checks.push_back(engine_check(plane, hosts, request.language));
  view.ok = std::all_of(view.checks.begin(), view.checks.end(),
                        [](const wire::HealthCheckView& check) { return check.ok; });
  view.checks.push_back(backup_check(plane, request.language));
  return answer(view.ok ? 200 : 503, view);
}

Result<Response> version_get(ControlPlane& plane, const Request&) {
  return answer(
      200, wire::VersionView{std::string(product_version()), render(plane.deps.policy.currency),
                             plane.deps.policy.registration});
}

Endpoint open_row(std::string path, std::string operation_id, Text summary, Handler handler) {
  return {.method = Method::get,
          .path = std::move(path),
          .permission = Permission::anyone,
          .operation_id = std::move(operation_id),
          .summary = std::move(summary),
          .handler = std::move(handler)};
}

}  // namespace

void add_meta_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back(open_row("/healthz", "health_get", {"The process answers", "进程存活"},
                        on(plane, health_get)));
  to.back().response = schema_of<wire::HealthView>;
  to.push_back(open_row("/readyz", "readiness_get",
                        {"Database and engine answer; 503 with the reason when not",
                         "数据库与引擎可用；否则返回 503 和原因"},
                        on(plane, readiness_get)));
  to.back().response = schema_of<wire::HealthView>;
  to.push_back(open_row("/api/v1/version", "version_get",
                        {"Version, currency, and who may register", "版本、货币与注册方式"},
                        on(plane, version_get)));
  to.back().response = schema_of<wire::VersionView>;

  const auto document = std::make_shared<std::string>();
  const auto handler = [document](const Request&) -> Result<Response> {
    return json_response(200, *document);
  };
  to.push_back(open_row("/openapi.json", "openapi_get", {"This document", "本文档"}, handler));
  to.push_back(
      open_row("/api/v1/openapi.json", "openapi_get_v1", {"This document", "本文档"}, handler));
  *document = api_document(to);
}

}  // namespace cardhour::http
