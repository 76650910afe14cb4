// What cards and instances do: readings, processes, curves, and the operator's hand on the market.
#include "wire/telemetry.h"

#include <cmath>

#include "adapters/http/api/prometheus.h"
#include "adapters/http/api/support.h"
#include "base/limits.h"

namespace cardhour::http {
namespace {

wire::CardConditionView render(const CardCondition& from, Language language) {
  const ConditionText text = condition_text(from.reason);
  return {from.kind,  from.reason, text.what.in(language), text.next.in(language), from.note,
          from.actor, from.since};
}

wire::CardXidView render(const CardXid& from, Language language) {
  return {from.code, from.count, xid_meaning(from.code).what.in(language), from.first_at,
          from.last_at};
}

wire::GpuView render(const CardNow& from, Language language) {
  wire::GpuView view;
  view.card = http::render(from.view);
  view.sampled_at = from.sampled_at;
  view.unowned_bytes = from.unowned_bytes;
  if (from.sample) {
    view.reading = from.sample->reading;
    view.is_divided = from.sample->is_divided;
    view.slices = from.sample->slices;
    view.processes = static_cast<int64_t>(from.sample->processes.size());
  }
  for (const CardCondition& condition : from.conditions) {
    view.conditions.push_back(render(condition, language));
  }
  for (const CardXid& xid : from.xids) view.xids.push_back(render(xid, language));
  return view;
}

wire::GpuProcessView render(const ProcessNow& from) {
  wire::GpuProcessView view;
  view.card_uuid = from.card;
  view.card_index = from.card_index;
  view.pid = from.process.pid;
  view.is_graphics = from.process.is_graphics;
  view.command = from.process.command;
  view.memory_used_bytes = from.process.memory_used_bytes;
  view.instance_id = from.instance;
  view.instance = from.instance_name;
  view.renter = from.login;
  view.uid = from.process.uid;
  view.user = from.process.user;
  view.container = from.process.container;
  view.is_expected = from.is_expected;
  return view;
}

// Every slot of the range, so that gaps stay gaps for whoever draws it.
wire::MetricsView render(const Curves& curves) {
  wire::MetricsView view{curves.from, curves.to, curves.step, {}, {}};
  const auto columns = columns_of(curves.kind);
  size_t next = 0;
  const int64_t step = curves.step.ms;
  for (Timestamp at{curves.from.ms / step * step}; at < curves.to; at = at + curves.step) {
    while (next < curves.points.size() && curves.points[next].at < at) ++next;
    const bool is_there = next < curves.points.size() && curves.points[next].at == at;
    view.at.push_back(at);
    for (size_t i = 0; i < columns.size(); ++i) {
      const float value = is_there ? curves.points[next].values[i] : std::nanf("");
      auto& list = view.series[std::string(columns[i].name)];
      list.push_back(std::isnan(value) ? std::nullopt : std::optional<double>(value));
    }
  }
  return view;
}

Result<std::optional<Timestamp>> time_asked(const Request& request, const std::string& name) {
  const auto typed = request.query_value(name);
  if (!typed) return std::optional<Timestamp>();
  TRY_ASSIGN(const Timestamp at, in_field(name, parse_rfc3339(*typed)));
  return std::optional<Timestamp>(at);
}

Result<Range> range_of(const Request& request) {
  Range range;
  TRY_ASSIGN(range.from, time_asked(request, "from"));
  TRY_ASSIGN(range.to, time_asked(request, "to"));
  if (const auto step = request.query_value("step")) {
    TRY_ASSIGN(range.step, in_field("step", parse_duration(*step)));
  }
  return range;
}

std::vector<QueryParameter> range_query() {
  return {{"from", {"RFC 3339; an hour before `to` if absent", "RFC 3339；默认为 to 之前一小时"}},
          {"to", {"RFC 3339; now if absent", "RFC 3339；默认为现在"}},
          {"step", {"e.g. 1m; about 300 points if absent", "如 1m；默认约 300 个点"}}};
}

Result<Response> instance_metrics(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const InstanceView found, plane.instances.get(actor_of(request), request.param("id")));
  TRY_ASSIGN(const Range range, range_of(request));
  TRY_ASSIGN(const Curves curves, plane.telemetry.instance_curves(found.instance.id, range));
  return answer(200, render(curves));
}

// The renter's view of a card: its readings, without what is the operator's.
wire::GpuView for_renter(wire::GpuView view) {
  view.card.renter.clear();
  view.card.instance_id.reset();
  view.conditions.clear();
  view.xids.clear();  // of those who had it before, too
  return view;
}

Result<Response> instance_now(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const InstanceView found, plane.instances.get(actor_of(request), request.param("id")));
  const InstanceId& id = found.instance.id;
  wire::UsageView view{id, found.instance.name, std::nullopt, {}, {}, {}};
  if (const auto row = plane.telemetry.latest({SeriesKind::instance, id.text})) {
    view.sampled_at = plane.watch.latest()->at;
    const auto columns = columns_of(SeriesKind::instance);
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!std::isnan((*row)[i])) view.values[std::string(columns[i].name)] = (*row)[i];
    }
  }
  TRY_ASSIGN(const auto cards, plane.telemetry.cards());
  for (const CardNow& card : cards) {
    if (card.view.instance_id == id) {
      view.cards.push_back(for_renter(render(card, request.language)));
    }
  }
  TRY_ASSIGN(const auto processes, plane.telemetry.processes());
  for (const ProcessNow& process : processes) {
    if (process.instance == id) view.processes.push_back(render(process));
  }
  return answer(200, view);
}

Result<Response> gpu_list(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto cards, plane.telemetry.cards());
  std::vector<wire::GpuView> views;
  for (const CardNow& card : cards) views.push_back(render(card, request.language));
  return list_answer(std::move(views));
}

Result<Response> gpu_process_list(ControlPlane& plane, const Request&) {
  TRY_ASSIGN(const auto processes, plane.telemetry.processes());
  std::vector<wire::GpuProcessView> views;
  for (const ProcessNow& process : processes) views.push_back(render(process));
  return list_answer(std::move(views));
}

Result<Response> gpu_metrics(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const Range range, range_of(request));
  TRY_ASSIGN(const Curves curves,
             plane.telemetry.card_curves(CardId{request.param("card")}, range));
  return answer(200, render(curves));
}

Result<Response> gpu_answer(ControlPlane& plane, const Request& request, const CardId& id) {
  TRY_ASSIGN(const auto cards, plane.telemetry.cards());
  for (const CardNow& card : cards) {
    if (card.view.card.uuid == id) return answer(200, render(card, request.language));
  }
  return fail(ErrorCode::not_found, Text{"no such card", "没有这张显卡"});
}

Result<Response> take_out(ControlPlane& plane, const Request& request, ConditionKind kind) {
  TRY_ASSIGN(const auto body, body_of<wire::GpuRemovalRequest>(request));
  TRY_ASSIGN(const Card card, plane.telemetry.find_card(request.param("card")));
  TRY(plane.telemetry.take_out(actor_of(request), card.uuid,
                               {kind, body.note.value_or(""), body.ends_run.value_or(false)}));
  return gpu_answer(plane, request, card.uuid);
}

Result<Response> gpu_quarantine(ControlPlane& plane, const Request& request) {
  return take_out(plane, request, ConditionKind::quarantine);
}
Result<Response> gpu_exclude(ControlPlane& plane, const Request& request) {
  return take_out(plane, request, ConditionKind::excluded);
}
Result<Response> gpu_return(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const Card card, plane.telemetry.find_card(request.param("card")));
  TRY(plane.telemetry.put_back(actor_of(request), card.uuid));
  return gpu_answer(plane, request, card.uuid);
}

// Tenants' names are in it: a renter's token is not enough, an operator's that may only read is.
Result<Response> prometheus_get(ControlPlane& plane, const Request& request) {
  if (actor_of(request).role != Role::admin) {
    return fail(ErrorCode::forbidden, Text{"this is the operator's", "仅限运营者"},
                Text{"a token of an operator's with the scope `read` will do",
                     "使用运营者账户的 `read` 权限令牌即可"});
  }
  MetricsInput input;
  TRY_ASSIGN(input.cards, plane.telemetry.cards());
  TRY_ASSIGN(input.hosts, plane.inventory.hosts());
  Page page{"", limits::kPageMax};
  do {
    TRY_ASSIGN(const auto rows, plane.instances.page(actor_of(request), InstanceFilter{}, page));
    for (const InstanceView& view : rows) {
      if (view.instance.observed == Observed::running) input.instances.push_back(view);
    }
    page.after = static_cast<int>(rows.size()) < page.limit ? "" : rows.back().instance.id.text;
  } while (!page.after.empty());
  input.look = *plane.watch.latest();
  input.now = plane.deps.clock.now();
  Response response = text_response(200, prometheus_text(input));
  response.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  return response;
}

Endpoint removal_row(ControlPlane& plane, const std::string& verb, Text summary,
                     Result<Response> (*action)(ControlPlane&, const Request&)) {
  return {.method = Method::post,
          .path = "/api/v1/admin/gpus/{card}/" + verb,
          .permission = Permission::admin,
          .operation_id = "gpu_" + verb,
          .summary = std::move(summary),
          .handler = on(plane, action),
          .response = schema_of<wire::GpuView>};
}

void add_gpu_rows(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/admin/gpus",
                .permission = Permission::admin,
                .operation_id = "gpu_list",
                .summary = {"Cards as they are now: readings, conditions, errors",
                            "显卡当前状态：读数、隔离情况与错误"},
                .handler = on(plane, gpu_list),
                .response = page_schema<wire::GpuView>});
  to.push_back({.method = Method::get,
                .path = "/api/v1/admin/gpu-processes",
                .permission = Permission::admin,
                .operation_id = "gpu_process_list",
                .summary = {"Every process on a card, and whose it is", "显卡上的进程及其归属"},
                .handler = on(plane, gpu_process_list),
                .response = page_schema<wire::GpuProcessView>});
  to.push_back({.method = Method::get,
                .path = "/api/v1/admin/gpus/{card}/metrics",
                .permission = Permission::admin,
                .operation_id = "gpu_metrics",
                .summary = {"Curves of a card", "显卡的监控曲线"},
                .handler = on(plane, gpu_metrics),
                .response = schema_of<wire::MetricsView>,
                .query = range_query()});
  to.push_back(removal_row(
      plane, "quarantine",
      {"Take a card out of the market: something is wrong with it", "将有问题的显卡移出市场"},
      gpu_quarantine));
  to.back().request = request_schema_of<wire::GpuRemovalRequest>;
  to.push_back(removal_row(plane, "exclude",
                           {"Keep a card out of the market", "将显卡排除在市场之外"}, gpu_exclude));
  to.back().request = request_schema_of<wire::GpuRemovalRequest>;
  to.push_back(
      removal_row(plane, "return", {"Put a card back into the market", "恢复出租"}, gpu_return));
}

}  // namespace

void add_telemetry_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/instances/{id}/metrics",
                .permission = Permission::read,
                .operation_id = "instance_metrics",
                .summary = {"Curves of an instance and its cards", "实例及其显卡的监控曲线"},
                .handler = on(plane, instance_metrics),
                .response = schema_of<wire::MetricsView>,
                .query = range_query()});
  to.push_back({.method = Method::get,
                .path = "/api/v1/instances/{id}/now",
                .permission = Permission::read,
                .operation_id = "instance_now",
                .summary = {"What an instance does now", "实例当前的资源使用"},
                .handler = on(plane, instance_now),
                .response = schema_of<wire::UsageView>});
  to.push_back(
      {.method = Method::get,
       .path = "/metrics",
       .permission = Permission::read,
       .operation_id = "prometheus_get",
       .summary = {"For Prometheus; an operator's token", "供 Prometheus 采集；需运营者令牌"},
       .handler = on(plane, prometheus_get)});
  add_gpu_rows(plane, to);
}

}  // namespace cardhour::http
