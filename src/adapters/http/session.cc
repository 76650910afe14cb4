#include "adapters/http/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <exception>
#include <utility>

#include "adapters/http/problem.h"
#include "adapters/http/wire.h"
#include "base/check.h"

namespace cardhour::http {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using boost::system::error_code;
using Steady = std::chrono::steady_clock;

constexpr size_t kChunkBytes = 8 * 1024;
constexpr size_t kDiscardBytes = 512 * 1024;  // read and dropped before a close
constexpr Duration kLingerTime = seconds(2);
constexpr Duration kLingerTimeStopping = milliseconds(200);
constexpr int kEventsPerPoll = 100;
constexpr size_t kLastEventIdBytes = 128;
constexpr std::string_view kStreamGreeting = "retry: 2000\n\n";

std::chrono::milliseconds chrono(Duration d) { return std::chrono::milliseconds(d.ms); }

Duration since(Steady::time_point then) {
  return Duration{
      std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - then).count()};
}

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

Error internal_error() {
  return Error{ErrorCode::internal,
               {"the server made a mistake", "服务器内部出错"},
               {"Try again; if it stays, tell the operator.", "请重试；若仍失败，请联系运营者。"},
               {}};
}

// A handler's exception is a bug, and must not end the process.
template <class Answer, class Call>
Answer guarded(Call call, const char* what, Answer (*otherwise)(std::string)) {
  try {
    return call();
  } catch (const std::exception& thrown) {
    return otherwise(fmt::format("{} threw: {}", what, thrown.what()));
  }
}

Response broken(std::string why) {
  Response response = problem_response(internal_error(), Language::en);
  response.failure = std::move(why);
  return response;
}

std::optional<Response> broken_later(std::string why) { return broken(std::move(why)); }

Result<std::vector<SseEvent>> broken_stream(std::string) { return fail(internal_error()); }

}  // namespace

// ---- WaitList ----

void WaitList::add(Session* session, std::string topic, std::weak_ptr<Session> weak) {
  const std::lock_guard lock(mutex_);
  entries_.insert_or_assign(session, Entry{std::move(topic), std::move(weak)});
}

void WaitList::remove(Session* session) {
  const std::lock_guard lock(mutex_);
  entries_.erase(session);
}

void WaitList::wake(const std::string& topic) {
  // The last reference may be ours: sessions must not end under the lock they take.
  std::vector<std::shared_ptr<Session>> woken;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : entries_) {
      if (!topic.empty() && !entry.topic.empty() && entry.topic != topic) continue;
      if (auto session = entry.session.lock()) woken.push_back(std::move(session));
    }
  }
  for (const auto& session : woken) session->wake();
}

// ---- Session ----

struct Session::Timer {
  explicit Timer(const asio::any_io_executor& executor) : timer(executor) {}
  asio::steady_timer timer;
  uint64_t generation = 0;  // an expiry of an older one is stale
};

// The request being read, and afterwards what its answer needs of it.
struct Session::Reading {
  beast_http::request_parser<beast_http::string_body> parser;
  bool head_checked = false;
  bool expects_continue = false;
  std::string method;
  std::string path;
  Language language = Language::en;
  bool is_head = false;
  bool keep_alive = false;
  std::string last_event_id;
  Headers headers;  // of a request that asks for an upgrade
  Steady::time_point read_at = Steady::now();
};

struct Session::Waiting {
  std::shared_ptr<Deferred> later;
  Response outer;  // its log fields
  Steady::time_point deadline;
  bool asking = false;
  bool dirty = false;  // woken while asking
};

struct Session::Streaming {
  std::shared_ptr<SseSource> source;
  std::string last_id;
  bool polling = false;
  bool dirty = false;  // woken while busy, or more is there
  bool writing = false;
  bool ending = false;  // the last event is in the outbox
  Steady::time_point written_at = Steady::now();
  Steady::time_point polled_at = Steady::now();
  Steady::time_point progress_at = Steady::now();
};

Session::Session(std::shared_ptr<SessionShared> shared, std::unique_ptr<Transport> transport,
                 std::shared_ptr<const Serve> serve, std::string client_address,
                 Request::Transport security)
    : shared_(std::move(shared)),
      transport_(std::move(transport)),
      serve_(std::move(serve)),
      client_address_(std::move(client_address)),
      security_(security),
      chunk_(kChunkBytes, '\0'),
      timer_(std::make_unique<Timer>(transport_->executor())) {}

Session::~Session() {
  if (streaming_ != nullptr) shared_->streams.fetch_sub(1);
  shared_->waiting.remove(this);
  const std::lock_guard lock(shared_->mutex);
  shared_->sessions.erase(this);
}

void Session::start() {
  arm(shared_->options.header_timeout, &Session::close);
  transport_->handshake([self = shared_from_this()](error_code error) {
    if (error || self->phase_ == Phase::closed) return self->close();
    self->next_request();
    // A new connection has only as long for its first request as for a head.
    if (self->phase_ == Phase::idle)
      self->arm(self->shared_->options.header_timeout, &Session::close);
  });
}

void Session::wake() {
  if (wake_posted_.exchange(true)) return;
  asio::post(transport_->executor(), [self = shared_from_this()] {
    self->wake_posted_.store(false);
    if (self->phase_ == Phase::waiting) self->ask_later();
    if (self->phase_ == Phase::streaming) self->poll_stream();
  });
}

void Session::drain() {
  asio::post(transport_->executor(), [self = shared_from_this()] {
    switch (self->phase_) {
      case Phase::handshake:
      case Phase::idle:
      case Phase::head:
      case Phase::streaming:
        return self->close();
      case Phase::waiting:
        return self->ask_later();
      case Phase::upgraded: {
        const auto socket = self->socket_;  // it may end at once, and be let go
        return socket->stop();
      }
      default:
        return;  // sent() sees that the server stops
    }
  });
}

// ---- reading ----

void Session::next_request() {
  reading_ = std::make_unique<Reading>();
  reading_->parser.eager(true);
  reading_->parser.header_limit(static_cast<std::uint32_t>(shared_->options.header_bytes));
  reading_->parser.body_limit(shared_->options.body_bytes);
  phase_ = Phase::idle;
  if (!inbox_.empty()) return parse();
  arm(shared_->options.idle_timeout, &Session::close);
  read_more();
}

// Starts a read unless one is outstanding: one that a deadline overtook is still there.
void Session::read_more() {
  if (read_outstanding_) return;
  read_outstanding_ = true;
  transport_->read_some(asio::buffer(chunk_),
                        [self = shared_from_this()](error_code error, size_t bytes) {
                          self->read_outstanding_ = false;
                          self->was_read(error ? Read::failed : Read::done, bytes);
                        });
}

void Session::was_read(Read read, size_t bytes) {
  switch (phase_) {
    case Phase::idle:
    case Phase::head:
    case Phase::body:
      if (read == Read::failed) return close();
      inbox_.append(chunk_, 0, bytes);
      return parse();
    case Phase::streaming:  // reads only to learn that the client went away
    case Phase::lingering:
      discarded_ += bytes;
      if (read == Read::failed || discarded_ > kDiscardBytes) return close();
      return read_more();
    default:
      return;  // the answer to a request that came too late is on its way
  }
}

void Session::parse() {
  if (phase_ == Phase::idle) {
    phase_ = Phase::head;
    arm(shared_->options.header_timeout, &Session::timed_out);
  }
  auto& parser = reading_->parser;
  while (!inbox_.empty() && !parser.is_done()) {
    error_code error;
    const size_t used = parser.put(asio::buffer(std::as_const(inbox_)), error);
    inbox_.erase(0, used);
    if (error && error != beast_http::error::need_more) {
      if (error == beast_http::error::header_limit) {
        return refuse(431, {"Header too large", "请求头过大"},
                      text("the request head is over {} bytes", "请求头超过 {} 字节",
                           shared_->options.header_bytes));
      }
      if (error == beast_http::error::body_limit) {
        return refuse(Error{
            ErrorCode::too_large,
            text("the body is over {} bytes", "请求体超过 {} 字节", shared_->options.body_bytes),
            {},
            {}});
      }
      const std::string why = error.message();
      return refuse(Error{ErrorCode::invalid_argument,
                          text("not a well-formed HTTP request: {}", "HTTP 请求格式有误：{}", why),
                          {},
                          {}});
    }
    if (parser.is_header_done() && !reading_->head_checked) {
      head_done();
      if (phase_ != Phase::body) return;  // refused
    }
    if (used == 0) break;
  }
  if (parser.is_done()) return dispatch();
  if (inbox_.size() > shared_->options.header_bytes) {
    return refuse(Error{
        ErrorCode::too_large, {"a line of the request is too long", "请求中有一行过长"}, {}, {}});
  }
  if (reading_->expects_continue && inbox_.empty()) return send_continue();
  read_more();
}

void Session::head_done() {
  Reading& reading = *reading_;
  reading.head_checked = true;
  const auto& message = reading.parser.get();
  Headers headers;
  for (const auto& field : message) {
    headers.add(view(field.name_string()), std::string(view(field.value())));
  }
  reading.method = view(message.method_string());
  reading.language = language_of(headers.find("Accept-Language").value_or(""));
  const auto minor = static_cast<int>(message.version() % 10);
  if (message.version() / 10 != 1 || minor > 1) {
    return refuse(
        Error{ErrorCode::invalid_argument,
              {"only HTTP/1.0 and HTTP/1.1 are spoken here", "只支持 HTTP/1.0 和 HTTP/1.1"},
              {},
              {}});
  }
  if (const Status checked = check_head(headers, minor); !checked) return refuse(checked.error());
  phase_ = Phase::body;
  if (reading.parser.is_done()) return;
  arm(shared_->options.body_timeout, &Session::timed_out);
  reading.expects_continue = minor == 1 && headers.count("Expect") > 0;
}

// The client holds its body back until it hears this; the head has passed the checks.
void Session::send_continue() {
  reading_->expects_continue = false;
  outbox_ = "HTTP/1.1 100 Continue\r\n\r\n";
  written_ = 0;
  phase_ = Phase::writing;
  write_rest(&Session::continue_sent);
}

void Session::continue_sent() {
  phase_ = Phase::body;
  arm(shared_->options.body_timeout, &Session::timed_out);
  read_more();
}

void Session::timed_out() {
  refuse(408, {"Request timeout", "请求超时"},
         {"the request did not arrive in time", "请求未能及时送达"});
}

void Session::refuse(int status, Text title, Text detail) {
  reading_->keep_alive = false;
  send(http_problem(status, std::move(title), std::move(detail), reading_->language));
}

void Session::refuse(const Error& error) {
  reading_->keep_alive = false;
  send(problem_response(error, reading_->language));
}

// ---- handling ----

void Session::dispatch() {
  disarm();
  Reading& reading = *reading_;
  reading.read_at = Steady::now();
  auto message = reading.parser.release();
  reading.keep_alive = message.keep_alive();
  const auto method = method_from(reading.method);
  if (!method) {
    return refuse(501, {"Method unknown", "未知的方法"},
                  {"this server does not know the method", "服务器不认识该方法"});
  }
  auto target = parse_target(view(message.target()));
  if (!target) return refuse(target.error());

  Request request;
  request.method = *method;
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  for (const auto& field : message) {
    request.headers.add(view(field.name_string()), std::string(view(field.value())));
  }
  request.body = std::move(message.body());
  request.language = reading.language;
  request.client_address = client_address_;
  request.transport = security_;
  reading.path = request.path;
  reading.is_head = request.method == Method::head;
  if (request.header("Upgrade")) reading.headers = request.headers;
  reading.last_event_id = request.query_value("last_event_id").value_or("");
  if (const auto id = request.header("Last-Event-ID")) reading.last_event_id = *id;
  if (reading.last_event_id.size() > kLastEventIdBytes) reading.last_event_id.clear();

  phase_ = Phase::handling;
  const bool taken = shared_->workers.try_post(
      [self = shared_from_this(), asked = std::make_shared<Request>(std::move(request))] {
        auto answer = std::make_shared<Response>(guarded<Response>(
            [&] { return (*self->serve_)(std::move(*asked)); }, "the handler", &broken));
        asio::post(self->transport_->executor(),
                   [self, answer] { self->handled(std::move(*answer)); });
      });
  if (!taken) {
    handled(problem_response(Error{ErrorCode::overloaded,
                                   {"too many requests are waiting", "等待处理的请求过多"},
                                   {"Try again in a second.", "请稍后重试。"},
                                   {}},
                             reading.language));
  }
}

void Session::handled(Response response) {
  if (phase_ == Phase::closed) return;
  if (response.later != nullptr) {
    auto later = std::move(response.later);
    waiting_ = std::make_unique<Waiting>();
    waiting_->outer = std::move(response);
    return start_waiting(std::move(later));
  }
  if (response.socket != nullptr) return start_socket(std::move(response));
  if (response.stream != nullptr) return start_stream(std::move(response));
  send(std::move(response));
}

// ---- answers that are not known yet ----

void Session::start_waiting(std::shared_ptr<Deferred> later) {
  phase_ = Phase::waiting;
  waiting_->later = std::move(later);
  const Duration wait =
      std::clamp(waiting_->later->wait, Duration{}, seconds(limits::kWaitSecondsMax));
  waiting_->deadline = Steady::now() + chrono(wait);
  shared_->waiting.add(this, waiting_->later->topic, weak_from_this());
  ask_later();
}

void Session::ask_later() {
  if (phase_ != Phase::waiting) return;
  if (waiting_->asking) {
    waiting_->dirty = true;
    return;
  }
  disarm();
  waiting_->asking = true;
  waiting_->dirty = false;
  const bool last = Steady::now() >= waiting_->deadline || shared_->stopping.load();
  const auto chance = last ? Deferred::Chance::last : Deferred::Chance::may_wait;
  shared_->workers.post_poll([self = shared_from_this(), later = waiting_->later, chance] {
    auto answer = std::make_shared<std::optional<Response>>(guarded<std::optional<Response>>(
        [&] { return later->ask(chance); }, "a waiting answer", &broken_later));
    asio::post(self->transport_->executor(),
               [self, answer, chance] { self->answered_later(std::move(*answer), chance); });
  });
}

void Session::answered_later(std::optional<Response> response, Deferred::Chance chance) {
  if (phase_ != Phase::waiting) return;
  waiting_->asking = false;
  if (!response && chance == Deferred::Chance::may_wait) {
    if (waiting_->dirty || shared_->stopping.load()) return ask_later();
    const Duration rest{
        std::chrono::duration_cast<std::chrono::milliseconds>(waiting_->deadline - Steady::now())
            .count() +
        1};
    return arm(std::clamp(rest, milliseconds(1), shared_->options.poll_every), &Session::ask_later);
  }
  if (!response) response = broken("a waiting answer had none at its last chance");
  if (response->actor_id.empty()) response->actor_id = waiting_->outer.actor_id;
  if (response->operation_id.empty()) response->operation_id = waiting_->outer.operation_id;
  shared_->waiting.remove(this);
  waiting_.reset();
  response->later.reset();
  handled(*std::move(response));
}

// ---- WebSockets ----

// The connection stays this session's; what goes over it is the socket's from now on.
void Session::start_socket(Response response) {
  response.status = 101;
  log(response);
  phase_ = Phase::upgraded;
  disarm();
  const auto self = shared_from_this();
  const auto socket =
      WebSocketSession::create(self, *transport_, std::move(response.socket), {}, [self] {
        self->socket_.reset();
        self->close();
      });
  socket_ = socket;
  socket->start(reading_->headers, std::exchange(inbox_, {}));
  if (shared_->stopping.load()) socket->stop();
}

// ---- server-sent events ----

void Session::start_stream(Response response) {
  response.headers.set("Content-Type", "text/event-stream");
  response.headers.set("X-Accel-Buffering", "no");
  response.body.clear();
  if (reading_->is_head) {
    response.stream.reset();
    return send(std::move(response));
  }
  if (shared_->streams.fetch_add(1) >= shared_->options.sse_streams) {
    shared_->streams.fetch_sub(1);
    return send(
        problem_response(Error{ErrorCode::overloaded,
                               {"too many event streams are open", "打开的事件流过多"},
                               {"Close one, or try again later.", "请关闭一些，或稍后重试。"},
                               {}},
                         reading_->language));
  }
  streaming_ = std::make_unique<Streaming>();
  auto head = response_head(response, Connection::close, BodyLength::until_close);
  if (!head) return close();
  log(response);
  phase_ = Phase::streaming;
  streaming_->source = std::move(response.stream);
  streaming_->last_id = reading_->last_event_id;
  shared_->waiting.add(this, streaming_->source->topic(), weak_from_this());
  outbox_ = *std::move(head);
  outbox_ += kStreamGreeting;
  written_ = 0;
  inbox_.clear();
  streaming_->dirty = true;
  read_more();
  write_stream();
  stream_tick();
}

// Asks only when everything is written, so that a slow reader holds one batch at most.
void Session::poll_stream() {
  if (phase_ != Phase::streaming || streaming_->ending) return;
  if (streaming_->polling || streaming_->writing) {
    streaming_->dirty = true;
    return;
  }
  streaming_->polling = true;
  streaming_->dirty = false;
  streaming_->polled_at = Steady::now();
  shared_->workers.post_poll([self = shared_from_this(), source = streaming_->source,
                              last_id = streaming_->last_id] {
    auto events =
        std::make_shared<Result<std::vector<SseEvent>>>(guarded<Result<std::vector<SseEvent>>>(
            [&] { return source->next(last_id, kEventsPerPoll); }, "an event source",
            &broken_stream));
    asio::post(self->transport_->executor(), [self, events] { self->polled(std::move(*events)); });
  });
}

void Session::polled(Result<std::vector<SseEvent>> events) {
  if (phase_ != Phase::streaming) return;
  streaming_->polling = false;
  if (!events) {
    outbox_ += sse_frame(
        SseEvent{"", "problem", problem_response(events.error(), reading_->language).body});
    streaming_->ending = true;
    return write_stream();
  }
  if (events->size() >= static_cast<size_t>(kEventsPerPoll)) streaming_->dirty = true;
  for (const SseEvent& event : *events) {
    const std::string frame = sse_frame(event);
    if (!outbox_.empty() && outbox_.size() + frame.size() > shared_->options.sse_backlog_bytes) {
      streaming_->dirty = true;  // the rest is asked for again by id
      break;
    }
    outbox_ += frame;
    if (!event.id.empty()) streaming_->last_id = event.id;
  }
  if (!outbox_.empty()) return write_stream();
  if (streaming_->dirty) poll_stream();
}

void Session::write_stream() {
  streaming_->writing = true;
  streaming_->progress_at = Steady::now();
  transport_->write_some(asio::buffer(std::string_view(outbox_).substr(written_)),
                         [self = shared_from_this()](error_code error, size_t bytes) {
                           if (self->phase_ != Phase::streaming) return;
                           if (error) return self->close();
                           self->written_ += bytes;
                           if (self->written_ < self->outbox_.size()) return self->write_stream();
                           self->stream_written();
                         });
}

void Session::stream_written() {
  outbox_.clear();
  written_ = 0;
  streaming_->writing = false;
  streaming_->written_at = Steady::now();
  if (streaming_->ending) return linger();
  if (streaming_->dirty) poll_stream();
}

void Session::stream_tick() {
  if (phase_ != Phase::streaming) return;
  const ServerOptions& options = shared_->options;
  if (streaming_->writing && since(streaming_->progress_at) >= options.idle_timeout) {
    return close();  // a reader that takes nothing; it resumes by id
  }
  if (!streaming_->writing && !streaming_->polling) {
    if (since(streaming_->written_at) >= options.keep_alive_every) {
      outbox_ = ":keep-alive\n\n";
      write_stream();
    } else if (since(streaming_->polled_at) >= options.poll_every) {
      poll_stream();
    }
  }
  arm(std::min(options.poll_every, options.keep_alive_every), &Session::stream_tick);
}

// ---- writing ----

void Session::send(Response response) {
  disarm();
  if (shared_->stopping.load()) reading_->keep_alive = false;
  const Connection connection = reading_->keep_alive ? Connection::keep_alive : Connection::close;
  auto head = response_head(response, connection, BodyLength::declared);
  if (!head) {
    response = broken("a handler gave headers or a status that cannot be sent");
    head = response_head(response, connection, BodyLength::declared);
    CHECK(head.has_value(), "our own problem document can be sent");
  }
  log(response);
  outbox_ = *std::move(head);
  const bool bodiless = reading_->is_head || response.status == 204 || response.status == 304;
  if (!bodiless && response.file == nullptr) outbox_ += response.body;
  if (!bodiless) file_ = std::move(response.file);
  written_ = 0;
  phase_ = Phase::writing;
  write_rest(&Session::sent);
}

void Session::write_rest(Step then) {
  arm(shared_->options.idle_timeout, &Session::close);
  transport_->write_some(asio::buffer(unwritten()),
                         [self = shared_from_this(), then](error_code error, size_t bytes) {
                           if (self->phase_ != Phase::writing) return;
                           if (error) return self->close();
                           self->written_ += bytes;
                           if (!self->unwritten().empty()) return self->write_rest(then);
                           ((*self).*then)();
                         });
}

// Of the outbox, and after it of the file.
std::string_view Session::unwritten() const {
  if (written_ < outbox_.size()) return std::string_view(outbox_).substr(written_);
  if (file_ == nullptr) return {};
  return std::string_view(*file_).substr(written_ - outbox_.size());
}

void Session::sent() {
  disarm();
  outbox_.clear();
  file_.reset();
  if (!reading_->keep_alive || shared_->stopping.load()) return linger();
  next_request();
}

// Closing with unread bytes would reset the connection and destroy the answer on its way:
// says that nothing more follows, then reads to the end for a short while.
void Session::linger() {
  phase_ = Phase::lingering;
  arm(shared_->stopping.load() ? kLingerTimeStopping : kLingerTime, &Session::close);
  transport_->shutdown_send([self = shared_from_this()](error_code error) {
    if (error) return self->close();
    if (self->phase_ == Phase::lingering) self->read_more();
  });
}

void Session::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  disarm();
  shared_->waiting.remove(this);
  transport_->close();
}

// ---- small ----

void Session::arm(Duration after, Step then) {
  timer_->timer.expires_after(chrono(after));
  timer_->timer.async_wait(
      [self = shared_from_this(), then, generation = ++timer_->generation](error_code) {
        if (generation == self->timer_->generation) ((*self).*then)();
      });
}

void Session::disarm() {
  ++timer_->generation;
  timer_->timer.cancel();
}

void Session::log(const Response& response) {
  if (!shared_->options.log) return;
  RequestLog line;
  line.method = reading_->method;
  line.path = reading_->path;
  line.status = response.status;
  line.elapsed_ms = since(reading_->read_at).ms;
  line.client_address = client_address_;
  line.actor_id = response.actor_id;
  line.operation_id = response.operation_id;
  line.failure = response.failure;
  shared_->options.log(line);
}

}  // namespace cardhour::http
