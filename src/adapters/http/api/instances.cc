// Instances: quote, rent, start, stop, release and what else moves them. Transitions take
// `?wait=30s`: the answer comes once the instance has settled, or when the time is up.
#include "adapters/http/api/support.h"

namespace cardhour::http {
namespace {

wire::QuoteView render(const Quote& quote) {
  wire::QuoteView view;
  view.gpu_model = quote.gpu_model;
  view.gpu_count = quote.gpu_count;
  view.mode = quote.mode;
  view.cards_free = quote.cards_free;
  view.millicores = quote.millicores;
  view.memory_bytes = quote.memory_bytes;
  view.system_disk_bytes = quote.system_disk_bytes;
  view.data_disk_bytes = quote.data_disk_bytes;
  view.rate_per_hour = quote.rate_per_hour;
  view.stopped_per_day = quote.stopped_per_day;
  view.hold = quote.hold;
  view.available = quote.available;
  view.needed = quote.needed;
  view.minimum_unit_ms = quote.minimum_unit;
  view.affordable = quote.affordable;
  view.placeable = quote.placeable;
  view.simulated = quote.simulated;
  return view;
}

wire::ConnectionView render(const Connection& connection) {
  wire::ConnectionView view;
  view.host = connection.host;
  view.port = connection.port;
  view.user = connection.user;
  view.password = connection.password;
  view.host_key_fingerprint = connection.host_key_fingerprint;
  view.known_hosts_line = fmt::format("[{}]:{} {}", view.host, view.port, connection.host_key_line);
  view.ssh_command = fmt::format("ssh -p {} {}@{}", view.port, view.user, view.host);
  return view;
}

// One instance with how to reach it, as far as the asker may know that.
Result<wire::InstanceView> look(ControlPlane& plane, const Request& request,
                                const std::string& id) {
  const Actor& actor = actor_of(request);
  TRY_ASSIGN(const InstanceView found, plane.instances.get(actor, id));
  wire::InstanceView view = http::render(found, request.language);
  const bool own = found.instance.account_id == actor.account;
  if (found.instance.observed != Observed::running || !own || !actor.scopes.instances) return view;
  auto connection = plane.instances.connection(actor, found.instance.id.text);
  if (connection) {
    view.connection = render(*connection);
  } else if (connection.error().code != ErrorCode::conflict) {  // it stopped in between
    return fail(std::move(connection).error());
  }
  return view;
}

Response instance_answer(int status, const wire::InstanceView& view) {
  Response response = answer(status, view);
  if (status == 201) response.headers.set("Location", "/api/v1/instances/" + view.id.text);
  return response;
}

// The instance after a transition was accepted: at once, or with `?wait=` once it settled.
Result<Response> transition_answer(ControlPlane& plane, const Request& request, int status,
                                   const InstanceId& id) {
  TRY_ASSIGN(const Duration wait, wait_asked(request));
  if (wait.ms == 0) {
    TRY_ASSIGN(const wire::InstanceView view, look(plane, request, id.text));
    return instance_answer(status, view);
  }
  auto ask = [&plane, request, status, id](Deferred::Chance chance) -> std::optional<Response> {
    const auto view = look(plane, request, id.text);
    if (!view) return problem_response(view.error(), request.language);
    if (!view->settled && chance == Deferred::Chance::may_wait) return std::nullopt;
    return instance_answer(status, *view);
  };
  Response response;
  response.later =
      std::make_shared<Deferred>(Deferred{std::move(ask), wait, actor_of(request).account.text});
  return response;
}

// A transition without a body: a member of Instances that takes actor and id.
template <Result<Instance> (Instances::*kMember)(const Actor&, const std::string&)>
Result<Response> transition(ControlPlane& plane, const Request& request) {
  TRY(wait_asked(request));  // refused before anything moves
  TRY_ASSIGN(const Instance moved,
             (plane.instances.*kMember)(actor_of(request), request.param("id")));
  return transition_answer(plane, request, 200, moved.id);
}

RentRequest rent_of(const wire::RentRequest& body) {
  RentRequest asked;
  asked.shape = ShapeRequest{body.mode, body.gpu_model, body.gpu_count};
  asked.name = body.name;
  asked.image = body.image;
  asked.purpose = body.purpose;
  asked.data_disk_bytes = body.data_disk_bytes;
  asked.nesting = body.nesting;
  return asked;
}

// What is absent stays as in the last run; a model without a mode means on demand.
ShapeRequest shape_of(const wire::StartRequest& body, const Instance& last) {
  ShapeRequest shape;
  shape.mode = body.mode.value_or(body.gpu_model ? Mode::on_demand : last.mode);
  if (shape.mode == Mode::no_gpu) return shape;
  shape.gpu_model = body.gpu_model.value_or(last.gpu_model);
  shape.gpu_count = body.gpu_count.value_or(last.gpu_count > 0 ? last.gpu_count : 1);
  return shape;
}

Result<Response> instance_list(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const PageAsked asked, page_of(request));
  TRY_ASSIGN(const bool with_purged, flag_of(request, "with_purged"));
  const Actor& actor = actor_of(request);
  TRY_ASSIGN(const auto rows,
             plane.instances.page(actor, InstanceFilter{actor.account, with_purged},
                                  asked.with_one_more()));
  return page_answer(
      rows, asked, [&](const InstanceView& view) { return http::render(view, request.language); },
      [](const InstanceView& view) { return view.instance.id.text; });
}

Result<Response> instance_get(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const wire::InstanceView view, look(plane, request, request.param("id")));
  return answer(200, view);
}

Result<Response> instance_quote(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::RentRequest>(request));
  TRY_ASSIGN(const Quote quote, plane.instances.quote(actor_of(request).account, rent_of(body)));
  return answer(200, render(quote));
}

Result<Response> instance_rent(ControlPlane& plane, const Request& request) {
  TRY(wait_asked(request));
  TRY_ASSIGN(const auto body, body_of<wire::RentRequest>(request));
  TRY_ASSIGN(const Instance made,
             plane.instances.rent(actor_of(request), rent_of(body), idempotency_of(request)));
  return transition_answer(plane, request, 201, made.id);
}

Result<Response> instance_start_quote(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::StartRequest>(request));
  const Actor& actor = actor_of(request);
  TRY_ASSIGN(const InstanceView last, plane.instances.get(actor, request.param("id")));
  TRY_ASSIGN(const Quote quote, plane.instances.start_quote(actor, last.instance.id.text,
                                                            shape_of(body, last.instance)));
  return answer(200, render(quote));
}

Result<Response> instance_start(ControlPlane& plane, const Request& request) {
  TRY(wait_asked(request));
  TRY_ASSIGN(const auto body, body_of<wire::StartRequest>(request));
  const Actor& actor = actor_of(request);
  TRY_ASSIGN(const InstanceView last, plane.instances.get(actor, request.param("id")));
  TRY_ASSIGN(const Instance started,
             plane.instances.start(actor, last.instance.id.text, shape_of(body, last.instance),
                                   idempotency_of(request)));
  return transition_answer(plane, request, 200, started.id);
}

Result<Response> instance_release(ControlPlane& plane, const Request& request) {
  TRY(wait_asked(request));
  TRY_ASSIGN(const auto body, body_of<wire::ReleaseRequest>(request));
  const Actor& actor = actor_of(request);
  const std::string& id = request.param("id");
  TRY_ASSIGN(const Instance released,
             body.purge ? plane.instances.purge(actor, id, body.confirm_name.value_or(""))
                        : plane.instances.release(actor, id));
  return transition_answer(plane, request, 200, released.id);
}

Result<Response> instance_rename(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::RenameRequest>(request));
  TRY_ASSIGN(const Instance renamed,
             plane.instances.rename(actor_of(request), request.param("id"), body.name));
  TRY_ASSIGN(const wire::InstanceView view, look(plane, request, renamed.id.text));
  return answer(200, view);
}

const QueryParameter kWait{
    "wait", {"answer once it settled, at most 60s", "等待状态稳定后再返回，最长 60s"}};

void add_reading_rows(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::get,
                .path = "/api/v1/instances",
                .permission = Permission::read,
                .operation_id = "instance_list",
                .summary = {"One's instances, newest first", "实例列表，最新的在前"},
                .handler = on(plane, instance_list),
                .response = page_schema<wire::InstanceView>,
                .query = page_query(
                    {{"with_purged", {"true: also those that are gone", "true：包含已清除的"}}})});
  to.push_back({.method = Method::get,
                .path = "/api/v1/instances/{id}",
                .permission = Permission::read,
                .operation_id = "instance_get",
                .summary = {"One instance, by id or exact name", "实例详情，按 ID 或名称"},
                .handler = on(plane, instance_get),
                .response = schema_of<wire::InstanceView>});
  to.push_back({.method = Method::post,
                .path = "/api/v1/instances/quote",
                .permission = Permission::read,
                .operation_id = "instance_quote",
                .summary = {"What a rent would cost", "租用报价"},
                .handler = on(plane, instance_quote),
                .request = request_schema_of<wire::RentRequest>,
                .response = schema_of<wire::QuoteView>});
  to.push_back({.method = Method::post,
                .path = "/api/v1/instances/{id}/start-quote",
                .permission = Permission::read,
                .operation_id = "instance_start_quote",
                .summary = {"What a start would cost", "开机报价"},
                .handler = on(plane, instance_start_quote),
                .request = request_schema_of<wire::StartRequest>,
                .response = schema_of<wire::QuoteView>});
}

void add_paying_rows(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back({.method = Method::post,
                .path = "/api/v1/instances",
                .permission = Permission::instances,
                .operation_id = "instance_rent",
                .summary = {"Rent", "租用新实例"},
                .handler = on(plane, instance_rent),
                .request = request_schema_of<wire::RentRequest>,
                .response = schema_of<wire::InstanceView>,
                .success_status = 201,
                .query = {kWait},
                .idempotent_key = true});
  to.push_back({.method = Method::post,
                .path = "/api/v1/instances/{id}/start",
                .permission = Permission::instances,
                .operation_id = "instance_start",
                .summary = {"Start, in the last shape or another", "开机，可更换规格"},
                .handler = on(plane, instance_start),
                .request = request_schema_of<wire::StartRequest>,
                .response = schema_of<wire::InstanceView>,
                .query = {kWait},
                .idempotent_key = true});
}

Endpoint transition_row(std::string path, std::string operation_id, Text summary, Handler handler) {
  return {.method = Method::post,
          .path = std::move(path),
          .permission = Permission::instances,
          .operation_id = std::move(operation_id),
          .summary = std::move(summary),
          .handler = std::move(handler),
          .response = schema_of<wire::InstanceView>,
          .query = {kWait}};
}

void add_transition_rows(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back(
      transition_row("/api/v1/instances/{id}/stop", "instance_stop",
                     {"Stop; billing ends now, disks stay", "关机；立即停止计费，保留磁盘"},
                     on(plane, transition<&Instances::stop>)));
  to.push_back(transition_row("/api/v1/instances/{id}/restart", "instance_restart",
                              {"Restart; keeps cards and price", "重启；保留显卡与价格"},
                              on(plane, transition<&Instances::restart>)));
  to.push_back(transition_row("/api/v1/instances/{id}/restore", "instance_restore",
                              {"Take it back out of the bin", "从回收站恢复"},
                              on(plane, transition<&Instances::restore>)));
  to.push_back(transition_row(
      "/api/v1/instances/{id}/release", "instance_release",
      {"Release: into the bin, or at once and for good", "释放：进入回收站，或立即彻底清除"},
      on(plane, instance_release)));
  to.back().request = request_schema_of<wire::ReleaseRequest>;
  to.push_back({.method = Method::patch,
                .path = "/api/v1/instances/{id}",
                .permission = Permission::instances,
                .operation_id = "instance_rename",
                .summary = {"Rename", "重命名"},
                .handler = on(plane, instance_rename),
                .request = request_schema_of<wire::RenameRequest>,
                .response = schema_of<wire::InstanceView>});
}

}  // namespace

void add_instance_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  add_reading_rows(plane, to);
  add_paying_rows(plane, to);
  add_transition_rows(plane, to);
}

}  // namespace cardhour::http
