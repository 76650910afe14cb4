// WebSockets over a real socket, with frames made by hand.
#include "adapters/http/websocket.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "adapters/http/server.h"

namespace cardhour::http {
namespace {

using Steady = std::chrono::steady_clock;
constexpr auto kDeadline = std::chrono::seconds(20);

template <class Predicate>
bool eventually(Predicate predicate) {
  const auto deadline = Steady::now() + kDeadline;
  while (!predicate()) {
    if (Steady::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

struct Frame {
  int opcode = -1;  // -1: the connection ended
  std::string data;
};
constexpr int kText = 1;
constexpr int kBinary = 2;
constexpr int kClose = 8;
constexpr int kPing = 9;
constexpr int kPong = 10;

class Client {
 public:
  explicit Client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void begin_upgrade(const std::string& more = "", const std::string& at_once = "") {
    send(
        "GET /socket HTTP/1.1\r\nHost: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n" +
        more + "\r\n" + at_once);
  }
  // The head of the answer.
  std::string upgrade(const std::string& more = "", const std::string& at_once = "") {
    begin_upgrade(more, at_once);
    while (inbox_.find("\r\n\r\n") == std::string::npos && receive()) {
    }
    const size_t end = inbox_.find("\r\n\r\n");
    if (end == std::string::npos) return "(cut) " + inbox_;
    const std::string head = inbox_.substr(0, end + 4);
    inbox_.erase(0, end + 4);
    return head;
  }

  static std::string frame(int opcode, std::string_view data) {
    std::string out(1, static_cast<char>(0x80 | opcode));
    if (data.size() < 126) {
      out += static_cast<char>(0x80 | data.size());
    } else if (data.size() < 65536) {
      out += static_cast<char>(0x80 | 126);
      out += static_cast<char>(data.size() >> 8);
      out += static_cast<char>(data.size() & 0xff);
    } else {
      out += static_cast<char>(0x80 | 127);
      for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(data.size() >> shift);
    }
    out += "mask";
    for (size_t i = 0; i < data.size(); ++i) out += static_cast<char>(data[i] ^ "mask"[i % 4]);
    return out;
  }
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  Frame next() {
    while (true) {
      if (inbox_.size() >= 2) {
        size_t length = static_cast<unsigned char>(inbox_[1]) & 0x7f;
        size_t head = 2;
        if (length == 126) head = 4;
        if (length == 127) head = 10;
        if (inbox_.size() >= head) {
          if (head > 2) length = 0;
          for (size_t i = 2; i < head; ++i) {
            length = length << 8 | static_cast<unsigned char>(inbox_[i]);
          }
          if (inbox_.size() >= head + length) {
            Frame frame{inbox_[0] & 0x0f, inbox_.substr(head, length)};
            inbox_.erase(0, head + length);
            return frame;
          }
        }
      }
      if (!receive()) return {};
    }
  }
  static int code_of(const Frame& frame) {
    if (frame.opcode != kClose || frame.data.size() < 2) return 0;
    return static_cast<unsigned char>(frame.data[0]) << 8 |
           static_cast<unsigned char>(frame.data[1]);
  }

 private:
  bool receive() {
    pollfd there{socket_, POLLIN, 0};
    if (::poll(&there, 1, 20'000) <= 0) return false;
    char buffer[64 * 1024];
    const ssize_t n = ::recv(socket_, buffer, sizeof buffer, 0);
    if (n <= 0) return false;
    inbox_.append(buffer, static_cast<size_t>(n));
    return true;
  }

  int socket_;
  std::string inbox_;
};

// Sends back what it takes, when it is told to take.
class Echo final : public WebSocketHandler {
 public:
  std::string protocol() const override { return "echo.v1"; }
  void opened(std::function<void()> wake) override {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
    is_open = true;
  }
  bool received(const WebSocketMessage& message) override {
    const std::lock_guard lock(mutex_);
    ++offered;
    if (!takes_) return false;
    bytes += message.data.size();
    if (message.kind == WebSocketMessage::Kind::text && message.data == "close") {
      out_.push_back(WebSocketClose{4409, std::string(200, '-') + "终"});
    } else if (answers_) {
      out_.push_back(message);
    }
    return true;
  }
  std::optional<Outgoing> next() override {
    const std::lock_guard lock(mutex_);
    if (out_.empty()) return std::nullopt;
    auto first = out_.front();
    out_.erase(out_.begin());
    return first;
  }
  void closed() override { is_closed = true; }

  void take(bool takes) {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      takes_ = takes;
      wake = wake_;
    }
    if (wake) wake();
  }
  void say(Outgoing message) {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      out_.push_back(std::move(message));
      wake = wake_;
    }
    wake();
  }
  void answer(bool answers) {
    const std::lock_guard lock(mutex_);
    answers_ = answers;
  }

  std::atomic<bool> is_open{false};
  std::atomic<bool> is_closed{false};
  std::atomic<int> offered{0};
  std::atomic<size_t> bytes{0};

 private:
  std::mutex mutex_;
  std::function<void()> wake_;
  std::vector<Outgoing> out_;
  bool takes_ = true;
  bool answers_ = true;
};

class WebSocketTest : public testing::Test {
 protected:
  WebSocketTest() {
    Listener listener;
    listener.serve = [this](Request request) {
      if (!is_web_socket_upgrade(request)) return text_response(200, "plain");
      Response response;
      response.socket = echo_;
      return response;
    };
    auto server = HttpServer::start({listener}, {}, hub_);
    EXPECT_TRUE(server);
    server_ = std::move(*server);
  }
  uint16_t port() const { return server_->port(); }

  EventHub hub_;
  std::shared_ptr<Echo> echo_ = std::make_shared<Echo>();
  std::unique_ptr<HttpServer> server_;
};

TEST_F(WebSocketTest, SpeaksTheProtocolOfItsHandler) {
  Client client(port());
  const std::string head = client.upgrade("Sec-WebSocket-Protocol: echo.v1\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 101 ")) << head;
  // RFC 6455, section 1.3.
  EXPECT_NE(head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), std::string::npos);
  EXPECT_NE(head.find("Sec-WebSocket-Protocol: echo.v1"), std::string::npos);
  EXPECT_EQ(head.find("permessage-deflate"), std::string::npos);
  client.send(Client::frame(kText, "hello"));
  const Frame text = client.next();
  EXPECT_EQ(text.opcode, kText);
  EXPECT_EQ(text.data, "hello");
  client.send(Client::frame(kBinary, std::string(60'000, '\xff')));
  const Frame binary = client.next();
  EXPECT_EQ(binary.opcode, kBinary);
  EXPECT_EQ(binary.data, std::string(60'000, '\xff'));
  client.send(Client::frame(kPing, "?"));
  EXPECT_EQ(client.next().opcode, kPong);
}

TEST_F(WebSocketTest, AnswersNoProtocolThatWasNotAskedFor) {
  for (const char* asked : {"", "Sec-WebSocket-Protocol: other.v1\r\n"}) {
    Client client(port());
    const std::string head = client.upgrade(asked);
    EXPECT_TRUE(head.starts_with("HTTP/1.1 101 ")) << head;
    EXPECT_EQ(head.find("Sec-WebSocket-Protocol"), std::string::npos) << head;
  }
}

TEST_F(WebSocketTest, TakesWhatCameWithTheRequest) {
  Client client(port());
  client.upgrade("", Client::frame(kText, "early") + Client::frame(kText, "bird"));
  EXPECT_EQ(client.next().data, "early");
  EXPECT_EQ(client.next().data, "bird");
}

TEST_F(WebSocketTest, OnlyARequestOfTheFormIsAnUpgrade) {
  Request request;
  request.headers.fields = {{"Upgrade", "WebSocket"},
                            {"Connection", "keep-alive, Upgrade"},
                            {"Sec-WebSocket-Key", "k"},
                            {"Sec-WebSocket-Version", "13"}};
  EXPECT_TRUE(is_web_socket_upgrade(request));
  const auto without = [&](const std::string& name, const std::string& instead) {
    Request other = request;
    other.headers.set(name, instead);
    return is_web_socket_upgrade(other);
  };
  EXPECT_FALSE(without("Upgrade", "h2c"));
  EXPECT_FALSE(without("Connection", "close"));
  EXPECT_FALSE(without("Sec-WebSocket-Version", "8"));
  request.method = Method::post;
  EXPECT_FALSE(is_web_socket_upgrade(request));
}

TEST_F(WebSocketTest, AHandlersCloseHasItsCodeAndAReasonThatFits) {
  Client client(port());
  client.upgrade();
  client.send(Client::frame(kText, "close"));
  const Frame close = client.next();
  EXPECT_EQ(Client::code_of(close), 4409);
  EXPECT_LE(close.data.size(), 125u);
  EXPECT_EQ(close.data.substr(2), std::string(120, '-'));
  client.send(Client::frame(kClose, close.data.substr(0, 2)));
  EXPECT_EQ(client.next().opcode, -1);
  EXPECT_TRUE(eventually([&] { return echo_->is_closed.load(); }));
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 0; }));
}

TEST_F(WebSocketTest, ACloseOfTheClientIsAnswered) {
  Client client(port());
  client.upgrade();
  client.send(Client::frame(kClose, std::string("\x03\xe8", 2)));
  EXPECT_EQ(Client::code_of(client.next()), 1000);
  EXPECT_TRUE(eventually([&] { return echo_->is_closed.load(); }));
}

TEST_F(WebSocketTest, AMessageOverTheLimitEndsIt) {
  Client client(port());
  client.upgrade();
  client.send(Client::frame(kBinary, std::string(64 * 1024 + 1, 'x')));
  EXPECT_EQ(Client::code_of(client.next()), 1009);
  EXPECT_TRUE(eventually([&] { return echo_->is_closed.load(); }));
  EXPECT_EQ(echo_->bytes.load(), 0u);
}

TEST_F(WebSocketTest, WhatIsNotTakenHoldsTheClientBackAndIsNotLost) {
  Client client(port());
  client.upgrade();
  ASSERT_TRUE(eventually([&] { return echo_->is_open.load(); }));
  echo_->take(false);
  echo_->answer(false);
  // 15 MB, more than every buffer on the way holds; on a thread, as it does not go through at once.
  constexpr size_t kMessages = 300;
  const std::string message = Client::frame(kBinary, std::string(50'000, 'x'));
  std::atomic<size_t> sent{0};
  std::thread sender([&] {
    for (size_t i = 0; i < kMessages; ++i) {
      client.send(message);
      ++sent;
    }
  });
  ASSERT_TRUE(eventually([&] { return echo_->offered.load() > 0; }));
  EXPECT_EQ(echo_->bytes.load(), 0u);
  EXPECT_LT(sent.load(), kMessages);
  echo_->take(true);
  EXPECT_TRUE(eventually([&] { return echo_->bytes.load() == kMessages * 50'000; }));
  sender.join();
}

TEST_F(WebSocketTest, AClientThatVanishesIsNoticed) {
  {
    Client client(port());
    client.upgrade();
    ASSERT_TRUE(eventually([&] { return echo_->is_open.load(); }));
  }
  EXPECT_TRUE(eventually([&] { return echo_->is_closed.load(); }));
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 0; }));
  echo_->say(WebSocketMessage{});  // a wake after the end
}

TEST_F(WebSocketTest, GarbageEndsIt) {
  for (const std::string& garbage :
       {std::string("\x81\x05hello"), std::string(14, '\xff'),
        std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\x83\x80mask")}) {
    Client client(port());
    client.upgrade();
    client.send(garbage);
    Frame last = client.next();
    while (last.opcode != -1 && last.opcode != kClose) last = client.next();
    EXPECT_NE(Client::code_of(last), 1000);
  }
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 0; }));
}

TEST_F(WebSocketTest, AnUpgradeMayMeetTheEndOfTheServer) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(std::make_unique<Client>(port()));
  for (const auto& client : clients) client->begin_upgrade();
  std::thread stopper([&] { server_->stop(); });
  clients.clear();
  stopper.join();
}

TEST_F(WebSocketTest, TheEndOfTheServerIsTold) {
  Client client(port());
  client.upgrade();
  ASSERT_TRUE(eventually([&] { return echo_->is_open.load(); }));
  std::thread stopper([&] { server_->stop(); });
  const Frame close = client.next();
  EXPECT_EQ(Client::code_of(close), 1001);
  client.send(Client::frame(kClose, close.data.substr(0, 2)));
  stopper.join();
  EXPECT_TRUE(echo_->is_closed.load());
}

}  // namespace
}  // namespace cardhour::http
