#include "adapters/http/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "adapters/http/problem.h"
#include "adapters/http/tls_identity.h"

namespace cardhour::http {
namespace {

using Steady = std::chrono::steady_clock;
constexpr auto kDeadline = std::chrono::seconds(10);

// True as soon as the predicate is; false at the deadline.
template <class Predicate>
bool eventually(Predicate predicate) {
  const auto deadline = Steady::now() + kDeadline;
  while (!predicate()) {
    if (Steady::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// A gate that handlers wait at.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait_for(lock, kDeadline, [this] { return open_; });
    --waiting_;
  }
  int waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

// A blocking socket that reads with a deadline.
class Client {
 public:
  explicit Client(uint16_t port, int receive_buffer = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  int socket() const { return socket_; }
  bool connected() const { return connected_; }

  Client& send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) break;
      text.remove_prefix(static_cast<size_t>(n));
    }
    return *this;
  }

  // Reads until the text so far has it; false at the end of the stream or the deadline.
  bool read_until(std::string_view wanted) {
    return read_while([&] { return text_.find(wanted) == std::string::npos; });
  }

  // One whole answer by its Content-Length, taken off the text.
  std::string answer() {
    if (!read_until("\r\n\r\n")) return "(cut) " + text_;
    const size_t head = text_.find("\r\n\r\n") + 4;
    const size_t field = text_.find("Content-Length: ");
    const size_t body = field < head ? std::strtoul(text_.c_str() + field + 16, nullptr, 10) : 0;
    if (!read_while([&] { return text_.size() < head + body; })) return "(cut) " + text_;
    std::string whole = text_.substr(0, head + body);
    text_.erase(0, head + body);
    return whole;
  }

  // True when the server closes, whatever it sends before.
  bool closed() {
    read_while([] { return true; });
    return ended_;
  }

  std::string text() const { return text_; }
  void forget() { text_.clear(); }

 private:
  template <class Condition>
  bool read_while(Condition more) {
    const auto deadline = Steady::now() + kDeadline;
    char buffer[16 * 1024];
    while (more()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
      pollfd poll_for{socket_, POLLIN, 0};
      if (left <= 0 || ::poll(&poll_for, 1, static_cast<int>(left)) <= 0) return false;
      const ssize_t n = ::recv(socket_, buffer, sizeof buffer, 0);
      if (n <= 0) {
        ended_ = true;
        return false;
      }
      text_.append(buffer, static_cast<size_t>(n));
    }
    return true;
  }

  int socket_;
  bool connected_ = false;
  bool ended_ = false;
  std::string text_;
};

std::string get(std::string_view target, std::string_view more = "") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: test\r\n" + std::string(more) + "\r\n";
}

int status_of(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : 0;
}

std::string body_of(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

// Events numbered from 1 in memory.
class Numbers : public SseSource {
 public:
  explicit Numbers(std::string topic = {}, size_t padding = 0)
      : topic_(std::move(topic)), padding_(padding) {}

  Result<std::vector<SseEvent>> next(std::string last_id, int limit) override {
    asked.fetch_add(1);
    if (inside.fetch_add(1) > 0) overlapped = true;
    auto events = after(last_id, limit);
    inside.fetch_sub(1);
    return events;
  }
  std::string topic() const override { return topic_; }

  std::atomic<int> newest{0};
  std::atomic<int> asked{0};
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  std::atomic<bool> broken{false};

 private:
  Result<std::vector<SseEvent>> after(const std::string& last_id, int limit) {
    if (broken.load()) return fail(ErrorCode::store_unavailable, {"locked", "被锁"});
    std::vector<SseEvent> events;
    const int last = std::atoi(last_id.c_str());
    for (int i = last + 1; i <= newest.load() && static_cast<int>(events.size()) < limit; ++i) {
      events.push_back({std::to_string(i), "number", std::string(padding_, '.')});
    }
    return events;
  }
  std::string topic_;
  size_t padding_;
};

class ServerTest : public ::testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    options.log = [this](const RequestLog& line) {
      const std::lock_guard lock(mutex_);
      log_.push_back(line);
    };
    Listener listener;
    listener.serve = [this](Request request) { return serve(std::move(request)); };
    auto server = HttpServer::start({listener}, std::move(options), hub_);
    ASSERT_TRUE(server) << server.error().what.en;
    server_ = std::move(*server);
    port_ = server_->port();
  }

  void TearDown() override {
    gate_.open();
    server_.reset();
  }

  Response serve(Request request) {
    if (request.path == "/gate") gate_.pass();
    if (request.path == "/throw") throw std::runtime_error("boom");
    if (request.path == "/split") {
      Response response = text_response(200, "");
      response.headers.set("X-Split", "a\r\nb");
      return response;
    }
    if (request.path == "/none") return no_content();
    if (request.path == "/large") return text_response(200, std::string(8 << 20, 'x'));
    if (request.path == "/numbers") {
      Response response;
      response.stream = numbers_;
      return response;
    }
    if (request.path == "/others") {
      Response response;
      response.stream = others_;
      return response;
    }
    if (request.path == "/later") return later(request);
    Response response = text_response(
        200, std::string(method_text(request.method)) + " " + request.path + " " + request.body);
    response.actor_id = "renter1";
    return response;
  }

  Response later(const Request& request) {
    Response response;
    response.actor_id = "renter1";
    response.later = std::make_shared<Deferred>();
    response.later->wait = *wait_asked(request);
    response.later->ask = [this](Deferred::Chance chance) -> std::optional<Response> {
      const bool ready = ready_.load();
      if (asked_.fetch_add(1) == 0 && slow_ask_.load()) gate_.pass();
      if (ready) return text_response(200, "ready");
      if (chance == Deferred::Chance::last) return text_response(200, "not yet");
      return std::nullopt;
    };
    return response;
  }

  std::vector<RequestLog> log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  EventHub hub_;
  Gate gate_;
  std::shared_ptr<Numbers> numbers_ = std::make_shared<Numbers>();
  std::shared_ptr<Numbers> others_ = std::make_shared<Numbers>("other");
  std::atomic<bool> ready_{false};
  std::atomic<bool> slow_ask_{false};
  std::atomic<int> asked_{0};
  std::mutex mutex_;
  std::vector<RequestLog> log_;
  std::unique_ptr<HttpServer> server_;
  uint16_t port_ = 0;
};

TEST_F(ServerTest, KeepsTheConnectionAlive) {
  start();
  Client client(port_);
  for (int i = 0; i < 3; ++i) {
    const std::string answer = client.send(get("/hello?secret=1")).answer();
    EXPECT_EQ(status_of(answer), 200);
    EXPECT_EQ(body_of(answer), "GET /hello ");
  }
  EXPECT_EQ(server_->stats().connections, 1u);
  client.send(get("/bye", "Connection: close\r\n"));
  EXPECT_NE(client.answer().find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(client.closed());
  ASSERT_EQ(log().size(), 4u);
  EXPECT_EQ(log()[0].path, "/hello");  // without the query
  EXPECT_EQ(log()[0].actor_id, "renter1");
  EXPECT_EQ(log()[0].client_address, "127.0.0.1");
}

TEST_F(ServerTest, Http10ClosesUnlessAsked) {
  start();
  Client client(port_);
  client.send("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_EQ(status_of(client.answer()), 200);
  EXPECT_TRUE(client.closed());
}

TEST_F(ServerTest, AnswersPipelinedRequestsInOrderOneByOne) {
  start();
  Client client(port_);
  client.send(get("/gate") + "POST /second HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nbody" +
              get("/third"));
  ASSERT_TRUE(eventually([&] { return gate_.waiting() == 1; }));
  EXPECT_TRUE(log().empty());  // the second waits for the first
  gate_.open();
  EXPECT_EQ(body_of(client.answer()), "GET /gate ");
  EXPECT_EQ(body_of(client.answer()), "POST /second body");
  EXPECT_EQ(body_of(client.answer()), "GET /third ");
}

TEST_F(ServerTest, ReadsBodiesInPiecesAndChunks) {
  start();
  Client client(port_);
  const std::string request =
      "PUT /a HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (const char c : request) client.send(std::string_view(&c, 1));
  EXPECT_EQ(body_of(client.answer()), "PUT /a abcde");
  client.send("PUT /b HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(status_of(client.answer()), 100);
  client.send("xyz");
  EXPECT_EQ(body_of(client.answer()), "PUT /b xyz");
}

TEST_F(ServerTest, HeadAndNoContentHaveNoBody) {
  start();
  Client client(port_);
  client.send("HEAD /x HTTP/1.1\r\nHost: t\r\n\r\n" + get("/none") + get("/end"));
  ASSERT_TRUE(client.read_until("GET /end "));
  EXPECT_NE(client.text().find("Content-Length: 8\r\n"), std::string::npos);
  EXPECT_EQ(client.text().find("HEAD /x"), std::string::npos);
}

TEST_F(ServerTest, OversizeIsRefusedWithItsName) {
  start({.header_bytes = 1024, .body_bytes = 1000});
  const auto refused = [&](const std::string& request) {
    Client client(port_);
    const std::string answer = client.send(request).answer();
    EXPECT_TRUE(client.closed());
    return status_of(answer);
  };
  EXPECT_EQ(refused("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1001\r\n\r\n"), 413);
  EXPECT_EQ(refused("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
                    std::string(1001, 'x') + "\r\n0\r\n\r\n"),
            413);
  EXPECT_EQ(refused(get("/", "X-Long: " + std::string(2000, 'x') + "\r\n")), 431);
  EXPECT_EQ(refused("GET /" + std::string(20'000, 'x')), 431);
  // An endless chunk extension.
  EXPECT_EQ(refused("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
                    std::string(20'000, 'x')),
            413);
  EXPECT_EQ(log().back().path, "");
}

TEST_F(ServerTest, MalformedRequestsAre400AndClosed) {
  start();
  for (const std::string& request : std::vector<std::string>{
           "garbage\r\n\r\n",
           "GET / HTTP/1.1\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
           "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
           "GET http://evil/ HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET /a/../b HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n",
           "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
           std::string("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 36),
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
           "0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"
           "0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\nx",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nx",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nx",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
       }) {
    Client client(port_);
    const std::string answer = client.send(request).answer();
    EXPECT_EQ(status_of(answer), 400) << request << answer;
    EXPECT_NE(answer.find("application/problem+json"), std::string::npos) << request;
    EXPECT_TRUE(client.closed()) << request;
  }
  Client client(port_);
  EXPECT_EQ(status_of(client.send("BREW / HTTP/1.1\r\nHost: a\r\n\r\n").answer()), 501);
}

TEST_F(ServerTest, ProblemsOfTheServerAreInTheClientsLanguage) {
  start();
  Client client(port_);
  client.send("GET /a/../b HTTP/1.1\r\nHost: a\r\nAccept-Language: zh-CN\r\n\r\n");
  EXPECT_NE(client.answer().find("请求有误"), std::string::npos);
}

TEST_F(ServerTest, SlowHeadsAndBodiesAreCutWith408) {
  start({.header_timeout = milliseconds(100), .body_timeout = milliseconds(100)});
  Client head(port_);
  EXPECT_EQ(status_of(head.send("GET / HTTP/1.1\r\nHo").answer()), 408);
  EXPECT_TRUE(head.closed());
  Client body(port_);
  EXPECT_EQ(
      status_of(body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx").answer()),
      408);
  EXPECT_TRUE(body.closed());
  Client silent(port_);  // not even a byte
  EXPECT_TRUE(silent.closed());
  EXPECT_EQ(silent.text(), "");
}

TEST_F(ServerTest, IdleConnectionsAreClosed) {
  start({.idle_timeout = milliseconds(100)});
  Client client(port_);
  EXPECT_EQ(status_of(client.send(get("/")).answer()), 200);
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 0; }));
}

TEST_F(ServerTest, FullWorkersAre503WithRetryAfter) {
  start({.worker_threads = 1, .worker_queue = 1});
  Client running(port_);
  Client queued(port_);
  Client refused(port_);
  running.send(get("/gate"));
  ASSERT_TRUE(eventually([&] { return gate_.waiting() == 1; }));
  queued.send(get("/queued"));
  // One of the two is queued, the other is refused; which is a race of the I/O threads.
  refused.send(get("/queued"));
  ASSERT_TRUE(eventually([&] { return log().size() == 1; }));
  EXPECT_EQ(log()[0].status, 503);
  gate_.open();
  EXPECT_EQ(status_of(running.answer()), 200);
  const std::string one = queued.answer();
  const std::string other = refused.answer();
  EXPECT_EQ(status_of(one) + status_of(other), 200 + 503);
  EXPECT_NE((one + other).find("Retry-After: 1\r\n"), std::string::npos);
  // The refused connection is kept, and works again.
  EXPECT_EQ(status_of(refused.send(get("/again")).answer()), 200);
}

TEST_F(ServerTest, ConnectionsOverTheLimitAreTurnedAway) {
  start({.connections = 1});
  Client first(port_);
  EXPECT_EQ(status_of(first.send(get("/")).answer()), 200);
  Client second(port_);
  EXPECT_EQ(status_of(second.answer()), 503);
  EXPECT_TRUE(second.closed());
}

TEST_F(ServerTest, BrokenHandlersAre500) {
  start();
  Client client(port_);
  const std::string answer = client.send(get("/throw")).answer();
  EXPECT_EQ(status_of(answer), 500);
  EXPECT_EQ(answer.find("boom"), std::string::npos);
  EXPECT_EQ(log().back().failure, "the handler threw: boom");
  EXPECT_EQ(status_of(client.send(get("/split")).answer()), 500);
  EXPECT_EQ(status_of(client.send(get("/fine")).answer()), 200);
}

TEST_F(ServerTest, LargeAnswersReachSlowReadersWhole) {
  start();
  Client client(port_, 4096);
  const std::string answer = client.send(get("/large")).answer();
  EXPECT_EQ(body_of(answer).size(), size_t{8} << 20);
}

TEST_F(ServerTest, StreamsEventsAndResumesById) {
  start({.poll_every = minutes(1)});  // only the hub wakes
  numbers_->newest = 2;
  {
    Client client(port_);
    client.send(get("/numbers"));
    ASSERT_TRUE(client.read_until("id: 2\nevent: number\ndata: \n\n"));
    EXPECT_NE(client.text().find("Content-Type: text/event-stream\r\n"), std::string::npos);
    EXPECT_NE(client.text().find("id: 1\n"), std::string::npos);
    numbers_->newest = 3;
    hub_.notify("anything");
    ASSERT_TRUE(client.read_until("id: 3\n"));
  }
  EXPECT_TRUE(eventually([&] { return server_->stats().streams == 0; }));  // its end was noticed
  numbers_->newest = 250;                                                  // more than one batch
  Client client(port_);
  client.send(get("/numbers", "Last-Event-ID: 3\r\n"));
  ASSERT_TRUE(client.read_until("id: 250\n"));
  EXPECT_EQ(client.text().find("id: 3\n"), std::string::npos);
  EXPECT_NE(client.text().find("id: 4\n"), std::string::npos);
  Client query(port_);
  query.send(get("/numbers?last_event_id=249"));
  ASSERT_TRUE(query.read_until("id: 250\n"));
  EXPECT_EQ(query.text().find("id: 249\n"), std::string::npos);
}

TEST_F(ServerTest, TopicsWakeOnlyTheirStreams) {
  numbers_ = std::make_shared<Numbers>("mine");
  numbers_->newest = 1;
  start({.poll_every = minutes(1)});
  Client client(port_);
  client.send(get("/numbers"));
  ASSERT_TRUE(client.read_until("id: 1\n"));
  Client other(port_);
  other.send(get("/others"));
  ASSERT_TRUE(other.read_until("retry:"));
  ASSERT_TRUE(eventually([&] { return others_->asked == 1; }));
  for (int i = 1; i <= 20; ++i) {
    others_->newest = i;
    hub_.notify("other");
    ASSERT_TRUE(other.read_until("id: " + std::to_string(i) + "\n"));
  }
  EXPECT_EQ(numbers_->asked, 1);
  numbers_->newest = 2;
  hub_.notify("mine");
  ASSERT_TRUE(client.read_until("id: 2\n"));
}

TEST_F(ServerTest, AStormOfHintsNeitherDoublesNorLosesEvents) {
  start({.poll_every = minutes(1)});
  Client client(port_);
  client.send(get("/numbers"));
  std::thread storm([&] {
    for (int i = 1; i <= 2000; ++i) {
      numbers_->newest = i;
      hub_.notify();
    }
  });
  EXPECT_TRUE(client.read_until("id: 2000\n"));
  storm.join();
  EXPECT_FALSE(numbers_->overlapped);
  for (const int i : {1, 2, 500, 1999}) {
    const std::string id = "id: " + std::to_string(i) + "\n";
    const size_t at = client.text().find(id);
    ASSERT_NE(at, std::string::npos) << i;
    EXPECT_EQ(client.text().find(id, at + 1), std::string::npos) << i;
  }
}

TEST_F(ServerTest, StreamsAreKeptAliveAndPolledWithoutAHint) {
  start({.keep_alive_every = milliseconds(50), .poll_every = milliseconds(20)});
  Client client(port_);
  client.send(get("/numbers"));
  ASSERT_TRUE(client.read_until(":keep-alive\n\n"));
  numbers_->newest = 1;
  ASSERT_TRUE(client.read_until("id: 1\n"));
}

TEST_F(ServerTest, SlowReadersHoldOneBatchAndAreCut) {
  numbers_ = std::make_shared<Numbers>("", 64 * 1024);
  numbers_->newest = 1000;
  start({.sse_backlog_bytes = 256 * 1024,
         .idle_timeout = milliseconds(200),
         .poll_every = milliseconds(20)});
  Client client(port_, 4096);
  client.send(get("/numbers"));
  ASSERT_TRUE(eventually([&] { return server_->stats().streams == 1; }));
  ASSERT_TRUE(eventually([&] { return server_->stats().streams == 0; }));  // it reads nothing
  // Asked for what the sockets' buffers took, not for all of the 64 MiB.
  EXPECT_LT(numbers_->asked, 200);
}

TEST_F(ServerTest, AReaderBehindGetsEveryEventOnce) {
  numbers_ = std::make_shared<Numbers>("", 40 * 1024);
  numbers_->newest = 60;  // 2.4 MB through a backlog of 100 KB
  start({.sse_backlog_bytes = 100 * 1024});
  Client client(port_);
  client.send(get("/numbers"));
  ASSERT_TRUE(client.read_until("id: 60\n"));
  for (int i = 1; i <= 60; ++i) {
    const std::string id = "id: " + std::to_string(i) + "\n";
    const size_t at = client.text().find(id);
    ASSERT_NE(at, std::string::npos) << i;
    EXPECT_EQ(client.text().find(id, at + 1), std::string::npos) << i;
  }
}

TEST_F(ServerTest, AStreamEndsWithItsProblem) {
  numbers_->broken = true;
  start();
  Client client(port_);
  client.send(get("/numbers"));
  EXPECT_TRUE(client.closed());
  EXPECT_NE(client.text().find("event: problem\ndata: {\"type\":\"urn:cardhour:problem:store_"),
            std::string::npos);
}

TEST_F(ServerTest, StreamsOverTheLimitAreRefused) {
  start({.sse_streams = 1});
  Client first(port_);
  first.send(get("/numbers"));
  ASSERT_TRUE(first.read_until("retry:"));
  Client second(port_);
  EXPECT_EQ(status_of(second.send(get("/numbers")).answer()), 503);
  EXPECT_EQ(server_->stats().streams, 1u);
}

TEST_F(ServerTest, WaitingAnswersHoldNoWorker) {
  start({.worker_threads = 1, .poll_every = minutes(1)});
  Client waiting(port_);
  waiting.send(get("/later?wait=30s"));
  ASSERT_TRUE(eventually([&] { return asked_ == 1; }));
  Client other(port_);
  EXPECT_EQ(status_of(other.send(get("/")).answer()), 200);
  ready_ = true;
  hub_.notify();
  EXPECT_EQ(body_of(waiting.answer()), "ready");
  EXPECT_EQ(log().back().actor_id, "renter1");
  EXPECT_EQ(body_of(waiting.send(get("/later")).answer()), "ready");
}

TEST_F(ServerTest, AHintDuringTheQuestionAsksAgain) {
  slow_ask_ = true;
  start({.poll_every = minutes(1)});
  Client client(port_);
  client.send(get("/later?wait=60s"));
  ASSERT_TRUE(eventually([&] { return gate_.waiting() == 1; }));
  ready_ = true;  // too late for the question being asked
  hub_.notify();
  gate_.open();
  EXPECT_EQ(body_of(client.answer()), "ready");
}

TEST_F(ServerTest, WaitingAnswersEndAtTheirDeadline) {
  start({.poll_every = milliseconds(20)});
  Client client(port_);
  EXPECT_EQ(body_of(client.send(get("/later?wait=100ms")).answer()), "not yet");
  EXPECT_GE(asked_, 2);
  EXPECT_EQ(body_of(client.send(get("/later")).answer()), "not yet");
}

TEST_F(ServerTest, ClientsThatVanishAnywhereLeaveNothingBehind) {
  start({.poll_every = milliseconds(5)});
  numbers_->newest = 1000;
  std::atomic<bool> done{false};
  std::thread notifier([&] {
    while (!done.load()) hub_.notify();
  });
  const std::string request =
      get("/hello") + get("/later?wait=50ms") +
      "PUT /b HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" +
      get("/large") + get("/numbers");
  for (size_t length = 0; length <= request.size(); ++length) {
    Client client(port_);
    client.send(request.substr(0, length));
    if (length % 3 == 0 && length >= get("/hello").size()) client.read_until("HTTP/1.1 200");
    if (length % 7 == 0) ::shutdown(client.socket(), SHUT_WR);
  }
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 0; }));
  done = true;
  notifier.join();
  EXPECT_EQ(server_->stats().streams, 0u);
  Client client(port_);
  EXPECT_EQ(status_of(client.send(get("/still")).answer()), 200);
}

TEST_F(ServerTest, StopLetsRequestsInProgressFinish) {
  start();
  Client running(port_);
  Client idle(port_);
  Client stream(port_);
  EXPECT_EQ(status_of(idle.send(get("/")).answer()), 200);
  stream.send(get("/numbers"));
  ASSERT_TRUE(stream.read_until("retry:"));
  running.send(get("/gate"));
  ASSERT_TRUE(eventually([&] { return gate_.waiting() == 1; }));
  std::thread stopping([&] { server_->stop(); });
  EXPECT_TRUE(idle.closed());
  EXPECT_TRUE(stream.closed());
  gate_.open();
  const std::string answer = running.answer();
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(running.closed());
  stopping.join();
  EXPECT_FALSE(Client(port_).connected());
}

TEST_F(ServerTest, StopDoesNotWaitForEver) {
  start({.drain = milliseconds(50)});
  Client half(port_);
  half.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx");
  ASSERT_TRUE(eventually([&] { return server_->stats().connections == 1; }));
  const auto before = Steady::now();
  server_->stop();
  EXPECT_LT(Steady::now() - before, std::chrono::seconds(5));
}

TEST_F(ServerTest, SaysWhyItCannotListen) {
  start();
  const auto fails = [&](Listener listener) {
    listener.serve = [](Request) { return no_content(); };
    const auto server = HttpServer::start({listener}, {}, hub_);
    return server ? std::string("listens") : server.error().what.en;
  };
  EXPECT_NE(fails({.port = port_}).find("cannot listen on 127.0.0.1"), std::string::npos);
  EXPECT_NE(fails({.address = "0.0.0.0"}).find("no TLS"), std::string::npos);
  EXPECT_NE(fails({.address = "nonsense"}).find("not an IP address"), std::string::npos);
  EXPECT_NE(fails({.tls = TlsFiles{"/nonexistent", "/nonexistent"}}).find("certificate"),
            std::string::npos);
  EXPECT_EQ(fails({.address = "0.0.0.0", .plain = Listener::Plain::anywhere}), "listens");
}

// A directory that goes away with the test.
struct TemporaryDirectory {
  TemporaryDirectory() {
    char name[] = "/tmp/cardhour-http-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  std::string path;
};

TEST_F(ServerTest, SpeaksTlsWithItsOwnCertificate) {
  const TemporaryDirectory directory;
  const auto identity = ensure_self_signed(directory.path, {"localhost", "127.0.0.1"});
  ASSERT_TRUE(identity) << identity.error().what.en;
  EXPECT_EQ(identity->fingerprint.size(), 32u * 3 - 1);
  EXPECT_EQ(ensure_self_signed(directory.path, {})->fingerprint, identity->fingerprint);
  const auto mode = std::filesystem::status(identity->files.key).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);

  Listener listener;
  listener.tls = identity->files;
  listener.serve = [](Request request) {
    return text_response(200, request.transport == Request::Transport::tls ? "tls" : "plain");
  };
  auto server = HttpServer::start({listener}, {}, hub_);
  ASSERT_TRUE(server) << server.error().what.en;

  Client client((*server)->port());
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_load_verify_locations(context, identity->files.certificate.c_str(), nullptr);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL* ssl = SSL_new(context);
  SSL_set1_host(ssl, "localhost");
  SSL_set_fd(ssl, client.socket());
  ASSERT_EQ(SSL_connect(ssl), 1);
  for (int i = 0; i < 2; ++i) {
    const std::string request = get("/");
    SSL_write(ssl, request.data(), static_cast<int>(request.size()));
    std::string text;
    char buffer[4096];
    while (text.find("\r\n\r\ntls") == std::string::npos) {
      const int n = SSL_read(ssl, buffer, sizeof buffer);
      ASSERT_GT(n, 0);
      text.append(buffer, static_cast<size_t>(n));
    }
  }
  SSL_shutdown(ssl);
  SSL_free(ssl);
  SSL_CTX_free(context);
  // A plain request to a TLS port is cut, and hurts nobody.
  Client plain((*server)->port());
  EXPECT_TRUE(plain.send(get("/")).closed());
}

}  // namespace
}  // namespace cardhour::http
