// A very small HTTP client: one request a connection, over TCP to an IPv4 address or over a
// unix socket. No names are resolved: a static program cannot, and the control plane gives
// an address. Blocking, with a deadline for the whole exchange. Thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/error.h"

namespace cardhour::guest {

struct Address {
  std::string socket_path;  // of a unix socket; else host and port count
  std::string host;
  int port = 80;
  std::string prefix;  // goes before the path of each request
};

// "http://10.177.0.1:7070" or ".../prefix".
Result<Address> parse_url(std::string_view url);

struct HttpRequest {
  std::string method;
  std::string path;
  std::string bearer;  // empty: no Authorization
  std::string body;    // JSON
};

// The status code of the answer, of which at most 64 KiB are read.
// engine_unavailable: nobody answers in time, or not in HTTP.
Result<int> send_request(const Address& address, const HttpRequest& request,
                         std::chrono::milliseconds timeout);

}  // namespace cardhour::guest
