#include "adapters/http/server.h"

#include <pthread.h>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <condition_variable>
#include <thread>
#include <utility>

#include "adapters/http/session.h"
#include "base/check.h"

namespace cardhour::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

// What a connection over the limit gets, as far as its send buffer takes it at once.
constexpr std::string_view kTooManyConnections =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\n"
    "Connection: close\r\n\r\n";

// One listening socket. Runs on its own strand.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(asio::io_context& io, std::shared_ptr<SessionShared> shared, Serve serve,
           std::shared_ptr<TlsContext> tls)
      : io_(io),
        shared_(std::move(shared)),
        serve_(std::make_shared<const Serve>(std::move(serve))),
        tls_(std::move(tls)),
        socket_(asio::make_strand(io)),
        pause_(socket_.get_executor()) {}

  error_code open(const tcp::endpoint& endpoint) {
    error_code error;
    socket_.open(endpoint.protocol(), error);
    if (!error) socket_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) socket_.bind(endpoint, error);
    if (!error) socket_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) port_ = socket_.local_endpoint(error).port();
    return error;
  }

  uint16_t port() const { return port_; }

  void accept() {
    socket_.async_accept(asio::make_strand(io_),
                         [self = shared_from_this()](error_code error, tcp::socket socket) {
                           self->accepted(error, std::move(socket));
                         });
  }

  void close() {
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      error_code ignored;
      self->socket_.close(ignored);
      self->pause_.cancel();
    });
  }

 private:
  void accepted(error_code error, tcp::socket socket) {
    if (!socket_.is_open()) return;
    if (error) {  // out of file descriptors, most likely: give others time to close some
      pause_.expires_after(std::chrono::milliseconds(100));
      pause_.async_wait([self = shared_from_this()](error_code) {
        if (self->socket_.is_open()) self->accept();
      });
      return;
    }
    serve(std::move(socket));
    accept();
  }

  void serve(tcp::socket socket) {
    error_code error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (error) return;  // gone already
    socket.set_option(tcp::no_delay(true), error);
    const std::string address = peer.address().to_string();
    {
      const std::lock_guard lock(shared_->mutex);
      if (shared_->sessions.size() >= shared_->options.connections) {
        socket.non_blocking(true, error);
        if (tls_ == nullptr) socket.write_some(asio::buffer(kTooManyConnections), error);
        return;
      }
    }
    auto transport =
        tls_ != nullptr ? tls_->transport(std::move(socket)) : plain_transport(std::move(socket));
    const auto executor = transport->executor();
    const auto session = std::make_shared<Session>(
        shared_, std::move(transport), serve_, address,
        tls_ != nullptr ? Request::Transport::tls : Request::Transport::plain);
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->sessions.emplace(session.get(), session);
    }
    asio::dispatch(executor, [session] { session->start(); });
  }

  asio::io_context& io_;
  const std::shared_ptr<SessionShared> shared_;
  const std::shared_ptr<const Serve> serve_;
  const std::shared_ptr<TlsContext> tls_;
  tcp::acceptor socket_;
  asio::steady_timer pause_;
  uint16_t port_ = 0;
};

Result<tcp::endpoint> endpoint_of(const Listener& listener) {
  error_code error;
  const auto address = asio::ip::make_address(listener.address, error);
  if (error) {
    return invalid("listen", text("{} is not an IP address", "{} 不是 IP 地址", listener.address));
  }
  if (!address.is_loopback() && !listener.tls && listener.plain == Listener::Plain::loopback_only) {
    return invalid("listen",
                   text("{} is reachable from other machines, and has no TLS",
                        "{} 可从其他机器访问，但没有启用 TLS", listener.address),
                   {"Give a certificate, or listen on 127.0.0.1 behind a proxy that has one.",
                    "请配置证书，或监听 127.0.0.1 并在前面部署带证书的代理。"});
  }
  return tcp::endpoint(address, listener.port);
}

}  // namespace

struct HttpServer::Impl {
  explicit Impl(ServerOptions options)
      : shared(std::make_shared<SessionShared>(std::move(options))) {}

  // Declared first, destroyed last but one: connections in the io_context use it.
  std::shared_ptr<SessionShared> shared;
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  std::vector<std::shared_ptr<Acceptor>> acceptors;
  EventHub::Subscription subscription;
  std::vector<std::thread> threads;
  std::mutex stop_mutex;
  bool stopped = false;

  Status listen(const Listener& listener) {
    CHECK(listener.serve != nullptr, "a listener needs something to serve");
    TRY_ASSIGN(const tcp::endpoint endpoint, endpoint_of(listener));
    std::shared_ptr<TlsContext> tls;
    if (listener.tls) {
      TRY_ASSIGN(tls, TlsContext::load(listener.tls->certificate, listener.tls->key));
    }
    auto acceptor = std::make_shared<Acceptor>(io, shared, listener.serve, std::move(tls));
    if (const error_code error = acceptor->open(endpoint)) {
      const std::string why = error.message();
      return fail(ErrorCode::conflict,
                  text("cannot listen on {} port {}: {}", "无法监听 {} 端口 {}：{}",
                       listener.address, listener.port, why),
                  {"Is another server running there? Choose another port with --listen.",
                   "是否已有其他服务占用？可用 --listen 指定其他端口。"});
    }
    acceptors.push_back(std::move(acceptor));
    return {};
  }

  void run() {
    for (const auto& acceptor : acceptors) acceptor->accept();
    for (int i = 0; i < shared->options.io_threads; ++i) {
      threads.emplace_back([this] { io.run(); });
      pthread_setname_np(threads.back().native_handle(), "http-io");
    }
  }

  size_t connections() {
    const std::lock_guard lock(shared->mutex);
    return shared->sessions.size();
  }

  void drain_sessions() {
    std::vector<std::shared_ptr<Session>> sessions;
    {
      const std::lock_guard lock(shared->mutex);
      for (const auto& [key, weak] : shared->sessions) {
        if (auto session = weak.lock()) sessions.push_back(std::move(session));
      }
    }
    for (const auto& session : sessions) session->drain();
  }

  void stop() {
    const std::lock_guard lock(stop_mutex);
    if (std::exchange(stopped, true)) return;
    shared->stopping.store(true);
    subscription = {};
    for (const auto& acceptor : acceptors) acceptor->close();
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(shared->options.drain.ms);
    while (connections() > 0 && std::chrono::steady_clock::now() < deadline) {
      drain_sessions();  // again: one may have become idle, or been accepted, since
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    io.stop();
    for (std::thread& thread : threads) thread.join();
    shared->workers.stop();
  }
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { stop(); }

Result<std::unique_ptr<HttpServer>> HttpServer::start(std::vector<Listener> listeners,
                                                      ServerOptions options, EventHub& hub) {
  auto impl = std::make_unique<Impl>(std::move(options));
  for (const Listener& listener : listeners) TRY(impl->listen(listener));
  impl->subscription = hub.subscribe(
      [shared = impl->shared](const std::string& topic) { shared->waiting.wake(topic); });
  impl->run();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

uint16_t HttpServer::port(size_t listener) const { return impl_->acceptors.at(listener)->port(); }

ServerStats HttpServer::stats() const {
  return ServerStats{impl_->connections(), impl_->shared->streams.load()};
}

void HttpServer::stop() { impl_->stop(); }

Result<ListenAddress> parse_listen(std::string_view given) {
  ListenAddress listen{"127.0.0.1", 0};
  const size_t colon = given.rfind(':');
  std::string_view port = given;
  if (colon != std::string_view::npos) {
    std::string_view address = given.substr(0, colon);
    port = given.substr(colon + 1);
    if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
      address = address.substr(1, address.size() - 2);
    }
    if (!address.empty()) listen.address = address;
  }
  const bool digits = !port.empty() && port.size() <= 5 &&
                      port.find_first_not_of("0123456789") == std::string_view::npos;
  const int number = digits ? std::stoi(std::string(port)) : -1;
  error_code error;
  asio::ip::make_address(listen.address, error);
  if (number < 0 || number > 65535 || error) {
    const std::string word(given);
    return invalid("listen", text("{} is not an address and port", "{} 不是“地址:端口”", word),
                   {"Write it like 127.0.0.1:8080.", "格式如 127.0.0.1:8080。"});
  }
  listen.port = static_cast<uint16_t>(number);
  return listen;
}

}  // namespace cardhour::http
