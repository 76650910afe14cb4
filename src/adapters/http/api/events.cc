// The history: the stream, the latest events, and those of one instance.
#include <charconv>

#include "adapters/http/api/support.h"

namespace cardhour::http {
namespace {

Result<int64_t> sequence_of(const std::string& field, const std::string& text_given) {
  int64_t seq = 0;
  const char* end = text_given.data() + text_given.size();
  const auto [stop, error] = std::from_chars(text_given.data(), end, seq);
  if (error == std::errc() && stop == end && seq >= 0) return seq;
  return invalid(field,
                 text("\"{}\" is not the number of an event", "“{}” 不是事件编号", text_given));
}

// Asks the store for what came after the last event sent, and whether the token still
// stands: a revoked one ends its streams.
class EventStream final : public SseSource {
 public:
  EventStream(ControlPlane& plane, std::string token_id, Events::Query query, int64_t begin)
      : plane_(plane), token_id_(std::move(token_id)), query_(std::move(query)), begin_(begin) {}

  Result<std::vector<SseEvent>> next(std::string last_id, int limit) override {
    TRY_ASSIGN(const auto known, asker(plane_, token_id_));
    int64_t seq = begin_;
    if (!last_id.empty()) {
      TRY_ASSIGN(seq, sequence_of("Last-Event-ID", last_id));
    }
    TRY_ASSIGN(const auto events, plane_.events.after(known.actor, query_, seq, limit));
    std::vector<SseEvent> frames;
    for (const Event& event : events) {
      frames.push_back({std::to_string(event.seq), event.kind, to_json_text(render(event))});
    }
    return frames;
  }

 private:
  ControlPlane& plane_;
  std::string token_id_;
  Events::Query query_;
  int64_t begin_;
};

Result<Events::Query> query_of(ControlPlane& plane, const Request& request) {
  Events::Query query;
  if (const auto word = request.query_value("instance")) {
    TRY_ASSIGN(const InstanceView found, plane.instances.get(actor_of(request), *word));
    query.instance = found.instance.id;
  }
  return query;
}

// Where a stream begins that has no Last-Event-ID: `?after=`, else now.
Result<int64_t> begin_of(ControlPlane& plane, const Request& request, const Events::Query& query) {
  if (const auto after = request.query_value("after")) return sequence_of("after", *after);
  TRY_ASSIGN(const auto latest, plane.events.latest(actor_of(request), query, 1));
  return latest.empty() ? 0 : latest.front().seq;
}

Result<Response> event_stream(ControlPlane& plane, const Request& request) {
  if (const auto last = request.header("Last-Event-ID"); last && !last->empty()) {
    TRY(sequence_of("Last-Event-ID", std::string(*last)));
  }
  TRY_ASSIGN(Events::Query query, query_of(plane, request));
  TRY_ASSIGN(const int64_t begin, begin_of(plane, request, query));
  Response response;
  response.stream = std::make_shared<EventStream>(plane, request.token_id, std::move(query), begin);
  return response;
}

// The latest events, with `?after=` those that follow, or with `?before=` those that came
// before; always oldest first. `next` is what the same word takes to go on.
Result<Response> page_of_events(ControlPlane& plane, const Request& request,
                                const Events::Query& query) {
  TRY_ASSIGN(const int limit, page_limit(request));
  const auto after = request.query_value("after");
  const auto before = request.query_value("before");
  if (after && before) {
    return invalid("before", {"either after or before, not both", "after 与 before 只能选一个"});
  }
  std::vector<Event> events;
  if (after) {
    TRY_ASSIGN(const int64_t seq, sequence_of("after", *after));
    TRY_ASSIGN(events, plane.events.after(actor_of(request), query, seq, limit));
  } else if (before) {
    TRY_ASSIGN(const int64_t seq, sequence_of("before", *before));
    TRY_ASSIGN(events, plane.events.before(actor_of(request), query, seq, limit));
  } else {
    TRY_ASSIGN(events, plane.events.latest(actor_of(request), query, limit));
  }
  wire::Page<wire::EventView> page;
  for (const Event& event : events) page.items.push_back(render(event));
  if (!events.empty()) {
    page.next = std::to_string(before ? events.front().seq : events.back().seq);
  }
  return answer(200, page);
}

Result<Response> event_list(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const Events::Query query, query_of(plane, request));
  return page_of_events(plane, request, query);
}

Result<Response> instance_events(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const InstanceView found, plane.instances.get(actor_of(request), request.param("id")));
  return page_of_events(plane, request, Events::Query{.instance = found.instance.id});
}

Result<Response> admin_events(ControlPlane& plane, const Request& request) {
  Events::Query query{.everybody = true};
  if (const auto instance = request.query_value("instance")) query.instance = {*instance};
  if (const auto account = request.query_value("account")) {
    TRY_ASSIGN(const Account found, plane.accounts.find(*account));
    query.account = found.id;
  }
  query.actor_name = request.query_value("actor");
  return page_of_events(plane, request, query);
}

}  // namespace

void add_event_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  const QueryParameter instance{"instance", {"only this one: id or name", "仅此实例：ID 或名称"}};
  const QueryParameter after{"after", {"only what follows this number", "仅此编号之后的事件"}};
  const QueryParameter before{"before",
                              {"only what came before this number", "仅此编号之前的事件"}};
  to.push_back({.method = Method::get,
                .path = "/api/v1/events",
                .permission = Permission::read,
                .operation_id = "event_stream",
                .summary = {"What happens, as it happens; resumes by Last-Event-ID",
                            "事件流，可用 Last-Event-ID 续传"},
                .handler = on(plane, event_stream),
                .query = {instance, after},
                .event_stream = true,
                .takes_ticket = true});
  to.push_back({.method = Method::get,
                .path = "/api/v1/events/latest",
                .permission = Permission::read,
                .operation_id = "event_list",
                .summary = {"What happened last, oldest first", "最近的事件，按时间顺序"},
                .handler = on(plane, event_list),
                .response = page_schema<wire::EventView>,
                .query = page_query({instance, before})});
  to.push_back({.method = Method::get,
                .path = "/api/v1/instances/{id}/events",
                .permission = Permission::read,
                .operation_id = "instance_events",
                .summary = {"What happened to an instance, oldest first", "实例的事件，按时间顺序"},
                .handler = on(plane, instance_events),
                .response = page_schema<wire::EventView>,
                .query = page_query({before})});
  to.push_back(
      {.method = Method::get,
       .path = "/api/v1/admin/events",
       .permission = Permission::admin,
       .operation_id = "admin_events",
       .summary = {"What happened to everybody: the audit log", "全部事件：审计日志"},
       .handler = on(plane, admin_events),
       .response = page_schema<wire::EventView>,
       .query = page_query({before,
                            {"account", {"only this one's: login or id", "仅此账户：登录名或 ID"}},
                            {"actor", {"only what this one did: its name", "仅此操作者：名称"}},
                            {"instance", {"only this one: id", "仅此实例：ID"}}})});
}

}  // namespace cardhour::http
