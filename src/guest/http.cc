#include "guest/http.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "guest/descriptor.h"

namespace cardhour::guest {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kAnswerBytesMax = 64 * 1024;

tl::unexpected<Error> no_answer(const std::string& why) {
  return fail(ErrorCode::engine_unavailable, Text{"no answer: " + why, "没有应答：" + why});
}

bool wait_for(int socket, short events, Clock::time_point deadline) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{socket, events, 0};
    const int ready = poll(&wait, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

int start_connecting(int socket, const Address& address) {
  if (!address.socket_path.empty()) {
    sockaddr_un unix_address{};
    unix_address.sun_family = AF_UNIX;
    if (address.socket_path.size() >= sizeof unix_address.sun_path) {
      errno = ENAMETOOLONG;
      return -1;
    }
    std::memcpy(unix_address.sun_path, address.socket_path.c_str(), address.socket_path.size());
    return connect(socket, reinterpret_cast<sockaddr*>(&unix_address), sizeof unix_address);
  }
  sockaddr_in ip_address{};
  ip_address.sin_family = AF_INET;
  ip_address.sin_port = htons(static_cast<uint16_t>(address.port));
  inet_pton(AF_INET, address.host.c_str(), &ip_address.sin_addr);
  return connect(socket, reinterpret_cast<sockaddr*>(&ip_address), sizeof ip_address);
}

Status connect_until(int socket, const Address& address, Clock::time_point deadline) {
  if (start_connecting(socket, address) == 0) return {};
  if (errno != EINPROGRESS) return no_answer(std::strerror(errno));
  if (!wait_for(socket, POLLOUT, deadline)) return no_answer("timeout");
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return no_answer(std::strerror(error));
  return {};
}

Status send_all(int socket, std::string_view text, Clock::time_point deadline) {
  while (!text.empty()) {
    if (!wait_for(socket, POLLOUT, deadline)) return no_answer("timeout");
    const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) return no_answer(std::strerror(errno));
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return {};
}

// Reads the head of the answer, which has all that we want to know.
Result<std::string> read_head(int socket, Clock::time_point deadline) {
  std::string answer;
  char buffer[4096];
  while (answer.find("\r\n\r\n") == std::string::npos) {
    if (answer.size() > kAnswerBytesMax) return no_answer("too long");
    if (!wait_for(socket, POLLIN, deadline)) return no_answer("timeout");
    const ssize_t got = recv(socket, buffer, sizeof buffer, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return no_answer(std::strerror(errno));
    if (got == 0) break;
    answer.append(buffer, static_cast<size_t>(got));
  }
  return answer;
}

Result<int> status_of(std::string_view answer) {
  int status = 0;
  if (answer.size() < 12 || !answer.starts_with("HTTP/1.") || answer[8] != ' ') {
    return no_answer("not HTTP");
  }
  const auto [end, error] = std::from_chars(answer.data() + 9, answer.data() + 12, status);
  if (error != std::errc{} || end != answer.data() + 12) return no_answer("not HTTP");
  return status;
}

std::string request_text(const Address& address, const HttpRequest& request) {
  const std::string host =
      address.socket_path.empty() ? address.host + ":" + std::to_string(address.port) : "localhost";
  std::string text = request.method + " " + address.prefix + request.path + " HTTP/1.1\r\n";
  text += "Host: " + host + "\r\nUser-Agent: cardhour-guest\r\nConnection: close\r\n";
  if (!request.bearer.empty()) text += "Authorization: Bearer " + request.bearer + "\r\n";
  text += "Content-Type: application/json\r\nContent-Length: ";
  return text + std::to_string(request.body.size()) + "\r\n\r\n" + request.body;
}

}  // namespace

Result<Address> parse_url(std::string_view url) {
  const auto bad = [&] {
    const std::string shown(url.substr(0, 200));
    return fail(ErrorCode::invalid_argument,
                Text{"not http://IPV4[:PORT]: " + shown, "不是 http://IPV4[:PORT]：" + shown});
  };
  constexpr std::string_view kScheme = "http://";
  constexpr std::string_view kNotInUrls = " \t\r\n";
  if (!url.starts_with(kScheme) || url.find_first_of(kNotInUrls) != url.npos) return bad();
  std::string_view rest = url.substr(kScheme.size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  Address address;
  address.prefix = rest.substr(slash);
  while (address.prefix.ends_with('/')) address.prefix.pop_back();
  rest = rest.substr(0, slash);

  const size_t colon = std::min(rest.find(':'), rest.size());
  address.host = rest.substr(0, colon);
  if (colon < rest.size()) {
    const std::string_view port = rest.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (error != std::errc{} || end != port.data() + port.size()) return bad();
  }
  in_addr parsed{};
  if (inet_pton(AF_INET, address.host.c_str(), &parsed) != 1) return bad();
  if (address.port < 1 || address.port > 65535) return bad();
  return address;
}

Result<int> send_request(const Address& address, const HttpRequest& request,
                         std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const int family = address.socket_path.empty() ? AF_INET : AF_UNIX;
  const Descriptor connection(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!connection.ok()) return no_answer(std::strerror(errno));
  TRY(connect_until(connection.get(), address, deadline));
  TRY(send_all(connection.get(), request_text(address, request), deadline));
  TRY_ASSIGN(const std::string answer, read_head(connection.get(), deadline));
  return status_of(answer);
}

}  // namespace cardhour::guest
