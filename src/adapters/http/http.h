// What a handler sees of HTTP: plain values, with nothing of Beast, Asio or JSON in them,
// so that handlers compile in a second and are tested without a socket.
// A Request has passed the server's checks: its path is decoded, valid UTF-8 and without
// empty, "." or ".." segments; its body and headers are within base/limits.h.
// Thread-safety: plain values; an SseSource is called by one worker at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace cardhour {

struct Actor;  // who is asking: domain/access.h

namespace http {

enum class Method { get, head, post, put, patch, delete_, options };
// "GET", "DELETE", ...
std::string_view method_text(Method method);
std::optional<Method> method_from(std::string_view text);

// Header fields in order; names compare without regard to case.
struct Headers {
  std::vector<std::pair<std::string, std::string>> fields;

  // The first value of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  // How many fields have that name.
  size_t count(std::string_view name) const;
  // Replaces every field of that name.
  void set(std::string_view name, std::string value);
  // Adds one more, e.g. a second Set-Cookie.
  void add(std::string_view name, std::string value);
};

struct Request {
  Method method = Method::get;
  std::string path;                           // decoded, e.g. "/api/v1/instances/i0123"
  std::map<std::string, std::string> params;  // of the endpoint's path, filled by the router
  std::map<std::string, std::string> query;   // decoded; a repeated name was refused
  Headers headers;
  std::string body;
  Language language = Language::en;
  std::string client_address;  // of the TCP peer, without port
  enum class Transport { plain, tls } transport = Transport::plain;
  std::shared_ptr<const Actor> actor;  // filled by the router's Authorizer; null for anyone
  std::string actor_id;                // same, as text for logs and idempotency rows
  std::string token_id;                // same: the token or session that asks
  std::optional<std::string> ticket;   // `?ticket=`, where the endpoint takes one

  // A parameter of the endpoint's path. CHECKs that the path has it.
  const std::string& param(const std::string& name) const;
  // nullopt when the query does not carry that name.
  std::optional<std::string> query_value(const std::string& name) const;
  // nullopt when absent.
  std::optional<std::string_view> header(std::string_view name) const { return headers.find(name); }
};

// One server-sent event. The id is what a client sends back as Last-Event-ID, or as
// `?last_event_id=`. Events without one may be sent twice.
struct SseEvent {
  std::string id;     // empty: the client keeps its last id
  std::string event;  // the type; empty means "message"
  std::string data;   // any text; line breaks are framed
};

// Where a stream gets its events. The server asks again when the hub wakes it, and
// at least every second; no thread waits in between.
class SseSource {
 public:
  virtual ~SseSource() = default;
  // At most `limit` events after `last_id`, oldest first; empty when there are none. The
  // first `last_id` is the client's Last-Event-ID, or empty. Must not block on new
  // events. An error ends the stream; its code and text reach the client as a last event
  // of type "problem".
  virtual Result<std::vector<SseEvent>> next(std::string last_id, int limit) = 0;
  // Which EventHub::notify(topic) wakes this stream, e.g. an account id; empty: every one.
  virtual std::string topic() const { return {}; }
};

struct Response;

// An answer that is not known yet (`?wait=30s`): the server calls `ask` on a worker at
// once, whenever the hub wakes the topic, and each second, until it gives a Response.
// At the deadline it asks a last time, and then nullopt is an internal error.
struct Deferred {
  enum class Chance { may_wait, last };
  std::function<std::optional<Response>(Chance)> ask;
  Duration wait;      // bounded by limits::kWaitSecondsMax
  std::string topic;  // as SseSource::topic
};

class WebSocketHandler;  // adapters/http/websocket.h

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
  std::shared_ptr<const std::string> file;   // set: the body, shared and not copied
  std::shared_ptr<WebSocketHandler> socket;  // set: the connection becomes a WebSocket
  std::shared_ptr<SseSource> stream;         // set: text/event-stream, and body is not used
  std::shared_ptr<Deferred> later;           // set: the rest comes from it

  // For the request log only; never sent.
  std::string actor_id;
  std::string operation_id;
  std::string failure;  // the English text of an error of ours (status 500 and above)
};

// What a listener serves: total, never throws on purpose. Called on worker threads.
using Serve = std::function<Response(Request)>;

// A body of JSON text, e.g. json_response(201, to_json_text(instance)).
Response json_response(int status, std::string json);
Response text_response(int status, std::string text);
Response no_content();

// ASCII letters in lower case, as names in HTTP compare.
std::string lowered(std::string_view text);
// The words of a header that is a list, without their parameters; what has q=0 is left out.
std::vector<std::string_view> list_words(std::string_view list);

// The path and query of a request line, decoded. Refuses everything but the origin form
// ("/a/b?c=d"), bad percent escapes, invalid UTF-8, control characters, an escaped "/",
// empty, "." and ".." segments (one trailing "/" is kept), and a repeated query name.
struct Target {
  std::string path;
  std::map<std::string, std::string> query;
};
Result<Target> parse_target(std::string_view target);

// The language a client prefers among ours (RFC 9110 Accept-Language); English if none.
Language language_of(std::string_view accept_language);

// `?limit=` of a page, default limits::kPageDefault; over limits::kPageMax is an error.
Result<int> page_limit(const Request& request);
// `?wait=30s`: zero when absent; more than limits::kWaitSecondsMax is cut to it.
Result<Duration> wait_asked(const Request& request);

}  // namespace http
}  // namespace cardhour
