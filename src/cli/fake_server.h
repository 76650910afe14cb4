// A tiny HTTP server for tests: answers canned bodies and keeps what it was asked. One
// thread, one request a connection, loopback, any free port.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"

namespace cardhour::cli {

class FakeServer {
 public:
  struct Answer {
    int status = 200;
    std::string body = "{}";
    std::string type = "application/json";
    bool cut = false;  // close the connection without an answer
  };
  struct Asked {
    std::string line;  // "GET /api/v1/wallet HTTP/1.1"
    std::string head;
    std::string body;

    std::string header(const std::string& name) const {
      const size_t at = head.find("\r\n" + name + ": ");
      if (at == std::string::npos) return "";
      const size_t begin = at + name.size() + 4;
      return head.substr(begin, head.find("\r\n", begin) - begin);
    }
  };

  FakeServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0, "bound");
    CHECK(::listen(listener_, 16) == 0, "listening");
    CHECK(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0, "named");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }

  ~FakeServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // The answers to "GET /wallet", one after another; the last one stays.
  void on(const std::string& request, std::vector<Answer> answers) {
    const std::lock_guard lock(mutex_);
    answers_[request] = std::move(answers);
  }
  std::vector<Asked> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  // Those whose request line begins with "POST /api/v1/instances ".
  std::vector<Asked> asked(const std::string& begin) {
    std::vector<Asked> out;
    for (const Asked& each : asked()) {
      if (each.line.starts_with(begin)) out.push_back(each);
    }
    return out;
  }

 private:
  void serve() {
    for (int peer = ::accept(listener_, nullptr, nullptr); peer >= 0;
         peer = ::accept(listener_, nullptr, nullptr)) {
      answer(peer);
      ::close(peer);
    }
  }

  static Asked read(int peer) {
    std::string text;
    char chunk[4096];
    size_t wanted = std::string::npos;
    while (text.size() < wanted) {
      const ssize_t n = ::recv(peer, chunk, sizeof chunk, 0);
      if (n <= 0) break;
      text.append(chunk, static_cast<size_t>(n));
      const size_t end = text.find("\r\n\r\n");
      if (end == std::string::npos) continue;
      const size_t at = text.find("Content-Length: ");
      wanted = end + 4 + (at < end ? std::stoul(text.substr(at + 16)) : 0);
    }
    const size_t end = text.find("\r\n\r\n");
    if (end == std::string::npos) return {};
    return Asked{text.substr(0, text.find("\r\n")), text.substr(0, end + 2), text.substr(end + 4)};
  }

  Answer next(const Asked& asked) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(asked);
    const size_t space = asked.line.find(' ');
    std::string path = asked.line.substr(space + 1, asked.line.find(' ', space + 1) - space - 1);
    path = path.substr(std::string("/api/v1").size());
    path = path.substr(0, path.find('?'));
    const auto it = answers_.find(asked.line.substr(0, space) + " " + path);
    if (it == answers_.end()) {
      return {404, R"({"code":"not_found","detail":"no such thing","exit_code":4})"};
    }
    Answer first = it->second.front();
    if (it->second.size() > 1) it->second.erase(it->second.begin());
    return first;
  }

  void answer(int peer) {
    const Asked asked = read(peer);
    if (asked.line.empty()) return;
    const Answer out = next(asked);
    if (out.cut) return;
    const std::string text = "HTTP/1.1 " + std::to_string(out.status) +
                             " X\r\nContent-Type: " + out.type +
                             "\r\nContent-Length: " + std::to_string(out.body.size()) +
                             "\r\nConnection: close\r\n\r\n" + out.body;
    ::send(peer, text.data(), text.size(), MSG_NOSIGNAL);
  }

  int listener_;
  int port_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::vector<Answer>> answers_;
  std::vector<Asked> asked_;
  std::thread thread_;
};

}  // namespace cardhour::cli
