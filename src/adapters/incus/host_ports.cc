#include "adapters/incus/host_ports.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace cardhour {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPause{50};
// One attempt: an instance that drops the packets must not use up all the patience.
constexpr std::chrono::milliseconds kAttempt{1000};

class Socket {
 public:
  Socket() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

Result<sockaddr_in> endpoint(const std::string& ipv4, int port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(static_cast<uint16_t>(port));
  if (port > 0 && port <= 65535 && inet_pton(AF_INET, ipv4.c_str(), &out.sin_addr) == 1) return out;
  return fail(ErrorCode::invalid_argument,
              text("{}:{} is not an address and port", "{}:{} 不是有效的地址和端口", ipv4, port));
}

tl::unexpected<Error> socket_failed() {
  const std::string why = std::strerror(errno);
  return fail(ErrorCode::engine_unavailable,
              text("the host gives no socket: {}", "主机无法提供套接字：{}", why));
}

bool ready(int fd, short what, Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  pollfd entry{fd, what, 0};
  return ::poll(&entry, 1, static_cast<int>(std::max<int64_t>(left.count(), 0))) == 1;
}

bool connected(const Socket& socket, const sockaddr_in& to, Clock::time_point end) {
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return true;
  if (errno != EINPROGRESS || !ready(socket.fd(), POLLOUT, end)) return false;
  int wrong = 0;
  socklen_t size = sizeof wrong;
  return ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &wrong, &size) == 0 && wrong == 0;
}

bool banner(const sockaddr_in& to, Clock::time_point end) {
  constexpr std::string_view kStart = "SSH-";
  const Socket socket;
  if (socket.fd() < 0 || !connected(socket, to, end)) return false;
  std::string heard;
  while (heard.size() < kStart.size()) {
    std::array<char, 256> buffer;
    if (!ready(socket.fd(), POLLIN, end)) return false;
    const ssize_t count = ::recv(socket.fd(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return false;
    heard.append(buffer.data(), static_cast<size_t>(count));
  }
  return heard.starts_with(kStart);
}

}  // namespace

Result<bool> can_bind(const std::string& ipv4, int port) {
  TRY_ASSIGN(const sockaddr_in address, endpoint(ipv4, port));
  const Socket socket;
  if (socket.fd() < 0) return socket_failed();
  // Connections that linger after a listener went do not count; listeners still do.
  const int on = 1;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EADDRINUSE) return false;
    return socket_failed();
  }
  // Another socket with the same option may be bound without listening: ask for both.
  return ::listen(socket.fd(), 1) == 0;
}

void end_orphaned_proxies(const std::string& ipv4, int port) {
  namespace fs = std::filesystem;
  const std::string listen = fmt::format("tcp:{}:{}", ipv4, port);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline");
    // incusd forkproxy -- LISTEN-PID FD LISTEN-ADDRESS CONNECT-PID FD CONNECT-ADDRESS ...
    std::vector<std::string> words;
    for (std::string word; words.size() < 9 && std::getline(file, word, '\0');) {
      words.push_back(word);
    }
    if (words.size() < 9 || words[1] != "forkproxy" || words[5] != listen) continue;
    if (fs::exists("/proc/" + words[6], ignored)) continue;
    ::kill(std::stoi(name), SIGTERM);
  }
}

Result<bool> ssh_banner_comes(const std::string& ipv4, int port, Duration patience) {
  TRY_ASSIGN(const sockaddr_in to, endpoint(ipv4, port));
  const auto end = Clock::now() + std::chrono::milliseconds(patience.ms);
  while (true) {
    if (banner(to, std::min(end, Clock::now() + kAttempt))) return true;
    if (Clock::now() + kPause >= end) return false;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace cardhour
