// One connection of the HTTP server, as a state machine of callbacks on its own strand:
//
//   handshake -> idle -> head -> body -> handling -> writing -> idle ...
//                                          |-> waiting (Deferred) -> writing
//                                          |-> streaming (server-sent events) -> closed
//                                          `-> upgraded (WebSocketSession) -> closed
//   any error -> writing (problem) -> lingering -> closed
//
// Invariant: the next request is not looked at before the answer to this one is written.
// Threads: everything runs on the strand, but wake() and drain(), which post to it, and
// the tasks given to the worker pool, which post back.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "adapters/http/server.h"
#include "adapters/http/transport.h"
#include "adapters/http/websocket_session.h"
#include "adapters/http/worker_pool.h"

namespace cardhour::http {

class Session;

// Who wants to be woken, by topic. Thread-safe.
class WaitList {
 public:
  void add(Session* session, std::string topic, std::weak_ptr<Session> weak);
  void remove(Session* session);
  void wake(const std::string& topic);

 private:
  struct Entry {
    std::string topic;
    std::weak_ptr<Session> session;
  };
  std::mutex mutex_;
  std::unordered_map<Session*, Entry> entries_;
};

// What the connections of one server share. Outlives them.
struct SessionShared {
  explicit SessionShared(ServerOptions server_options)
      : options(std::move(server_options)), workers(options.worker_threads, options.worker_queue) {}

  const ServerOptions options;
  WorkerPool workers;
  WaitList waiting;
  std::atomic<size_t> streams{0};
  std::atomic<bool> stopping{false};

  // Every live connection, so that stop() can drain them.
  std::mutex mutex;
  std::unordered_map<Session*, std::weak_ptr<Session>> sessions;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<SessionShared> shared, std::unique_ptr<Transport> transport,
          std::shared_ptr<const Serve> serve, std::string client_address,
          Request::Transport security);
  ~Session();

  // On the strand.
  void start();
  // Look for news now. Any thread.
  void wake();
  // The server stops: end when the request in progress is answered. Any thread.
  void drain();

 private:
  struct Reading;
  struct Streaming;
  struct Waiting;
  enum class Phase {
    handshake,
    idle,
    head,
    body,
    handling,
    waiting,
    streaming,
    upgraded,
    writing,
    lingering,
    closed
  };
  using Step = void (Session::*)();

  void next_request();
  void read_more();
  enum class Read { done, failed };
  void was_read(Read read, size_t bytes);
  void parse();
  void head_done();
  void send_continue();
  void continue_sent();
  void timed_out();
  void dispatch();
  void handled(Response response);
  void refuse(int status, Text title, Text detail);
  void refuse(const Error& error);

  void send(Response response);
  void write_rest(Step then);
  std::string_view unwritten() const;
  void sent();
  void linger();
  void close();

  void start_waiting(std::shared_ptr<Deferred> later);
  void ask_later();
  void answered_later(std::optional<Response> response, Deferred::Chance chance);

  void start_socket(Response response);

  void start_stream(Response response);
  void poll_stream();
  void polled(Result<std::vector<SseEvent>> events);
  void write_stream();
  void stream_written();
  void stream_tick();

  void arm(Duration after, Step then);
  void disarm();
  void log(const Response& response);

  const std::shared_ptr<SessionShared> shared_;
  const std::unique_ptr<Transport> transport_;
  const std::shared_ptr<const Serve> serve_;
  const std::string client_address_;
  const Request::Transport security_;

  Phase phase_ = Phase::handshake;
  std::string inbox_;                        // read, not yet parsed
  std::string outbox_;                       // being written, from written_ on
  std::shared_ptr<const std::string> file_;  // written after the outbox
  size_t written_ = 0;
  std::string chunk_;  // the buffer of the outstanding read
  bool read_outstanding_ = false;
  size_t discarded_ = 0;

  std::unique_ptr<Reading> reading_;
  std::unique_ptr<Waiting> waiting_;
  std::unique_ptr<Streaming> streaming_;
  std::shared_ptr<WebSocketSession> socket_;
  std::atomic<bool> wake_posted_{false};

  struct Timer;
  std::unique_ptr<Timer> timer_;
};

}  // namespace cardhour::http
