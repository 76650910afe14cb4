// The HTTP/1.1 server: listeners, two I/O threads ("http-io") that run every connection's
// state machine with callbacks, and the worker pool ("http-worker") that runs handlers.
// Requests of one connection are answered strictly one after another. Streams and waiting
// answers hold no thread. Everything is bounded by ServerOptions, whose defaults are
// base/limits.h.
// Thread-safe: port(), stats() and stop() from any thread but the server's own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/http/event_hub.h"
#include "adapters/http/http.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/time.h"

namespace cardhour::http {

// One line of the request log: no query, headers or bodies, which may carry secrets.
struct RequestLog {
  std::string method;  // empty when the request could not be read
  std::string path;
  int status = 0;
  int64_t elapsed_ms = 0;  // from the whole request read to the answer ready
  std::string client_address;
  std::string actor_id;
  std::string operation_id;
  std::string failure;  // why, when status is 500 or above
};

struct ServerOptions {
  int io_threads = limits::kIoThreads;
  int worker_threads = limits::kWorkerThreads;
  size_t worker_queue = limits::kWorkerQueue;
  size_t connections = limits::kConnections;
  size_t header_bytes = limits::kHeaderBytes;
  size_t body_bytes = limits::kBodyBytes;
  size_t sse_streams = limits::kSseStreams;
  size_t sse_backlog_bytes = limits::kSseBacklogBytes;
  Duration header_timeout = seconds(limits::kHeaderTimeoutSeconds);
  Duration body_timeout = seconds(60);                           // the largest body at 5 KB/s
  Duration idle_timeout = seconds(limits::kIdleTimeoutSeconds);  // also a write without progress
  Duration keep_alive_every = seconds(15);  // SSE comments, so that proxies keep the stream
  Duration poll_every = seconds(1);         // of streams and waiting answers that nobody woke
  Duration drain = seconds(5);
  // Called on I/O threads; must return at once.
  std::function<void(const RequestLog&)> log;
};

struct TlsFiles {
  std::string certificate;  // PEM, with its chain
  std::string key;          // PEM
};

struct Listener {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: any free one, see HttpServer::port
  std::optional<TlsFiles> tls;
  Serve serve;
  // Without TLS only loopback addresses are accepted, unless the wire is known to be private
  // (the bridge of the instances) or a proxy in front speaks TLS.
  enum class Plain { loopback_only, anywhere } plain = Plain::loopback_only;
};

struct ServerStats {
  size_t connections = 0;
  size_t streams = 0;
};

class HttpServer {
 public:
  // Listens, or says why not (address in use, bad certificate, plain beyond loopback).
  // The hub must outlive the server.
  static Result<std::unique_ptr<HttpServer>> start(std::vector<Listener> listeners,
                                                   ServerOptions options, EventHub& hub);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The bound port of the listener at that place in the list.
  uint16_t port(size_t listener = 0) const;
  ServerStats stats() const;
  // Accepts nothing more, ends streams, lets requests in progress finish for up to
  // options.drain, then closes everything. Idempotent; returns when all threads ended.
  void stop();

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// "127.0.0.1:8080", "[::1]:8080", ":8080" (loopback) or "8080" into address and port.
struct ListenAddress {
  std::string address;
  uint16_t port = 0;
};
Result<ListenAddress> parse_listen(std::string_view text);

}  // namespace cardhour::http
