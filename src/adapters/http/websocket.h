// What a handler sees of a WebSocket: whole messages, with nothing of Beast or Asio in them.
// The server asks for what there is to send and offers what it received; neither piles up: a
// message that is not taken is offered again, and the next is not read before.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "adapters/http/http.h"

namespace cardhour::http {

struct WebSocketMessage {
  enum class Kind { text, binary } kind = Kind::binary;
  std::string data;
};

// Codes of our own, as HTTP's: 4401, 4404, 4409. The reason is cut to what fits.
struct WebSocketClose {
  int code = 1000;
  std::string reason;
};

// One connection's. Called on an I/O thread, one call at a time; each must return at once.
class WebSocketHandler {
 public:
  using Outgoing = std::variant<WebSocketMessage, WebSocketClose>;

  virtual ~WebSocketHandler() = default;
  // The subprotocol spoken; empty: none.
  virtual std::string protocol() const { return {}; }
  // The upgrade is done. `wake`: call it from any thread when next() or received() may have
  // changed its mind; it may be called after the end.
  virtual void opened(std::function<void()> wake) = 0;
  // False: not now; it is offered again after a wake.
  virtual bool received(const WebSocketMessage& message) = 0;
  // What to send now; nullopt: nothing until a wake. A close is the last.
  virtual std::optional<Outgoing> next() = 0;
  // The connection is gone. Nothing is called any more.
  virtual void closed() = 0;
};

// Asks for an upgrade to a WebSocket, in form.
bool is_web_socket_upgrade(const Request& request);

}  // namespace cardhour::http
