#include "adapters/http/websocket.h"

#include <algorithm>

namespace cardhour::http {
namespace {

bool has_word(const Request& request, std::string_view name, std::string_view word) {
  const auto words = list_words(request.header(name).value_or(""));
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view given) { return lowered(given) == word; });
}

}  // namespace

bool is_web_socket_upgrade(const Request& request) {
  return request.method == Method::get && has_word(request, "Upgrade", "websocket") &&
         has_word(request, "Connection", "upgrade") && request.header("Sec-WebSocket-Key") &&
         request.header("Sec-WebSocket-Version") == "13";
}

}  // namespace cardhour::http
