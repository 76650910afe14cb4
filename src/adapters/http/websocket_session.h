// One WebSocket on a connection that was HTTP until now: Beast's framing over our Transport,
// without compression. Messages over limits::kTerminalFrameBytes end it; so does a peer that is
// silent for long.
// Threads: everything runs on the connection's strand, but wake, which posts to it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/http/http.h"
#include "adapters/http/transport.h"
#include "adapters/http/websocket.h"

namespace cardhour::http {

class WebSocketSession {
 public:
  struct Options {
    Duration ping_every = seconds(20);
    Duration silence_max = seconds(60);  // without a pong or anything else
    size_t message_bytes_max = 64 * 1024;
  };

  // `owner` holds the transport, and is held as long as anything here may touch it. `ended` is
  // called once, when the connection is of no more use.
  static std::shared_ptr<WebSocketSession> create(std::shared_ptr<void> owner, Transport& transport,
                                                  std::shared_ptr<WebSocketHandler> handler,
                                                  Options options, std::function<void()> ended);
  virtual ~WebSocketSession() = default;

  // Answers the upgrade. `unread` was read from the connection after the request.
  virtual void start(const Headers& request, std::string unread) = 0;
  // The server stops: says so (1001), and ends.
  virtual void stop() = 0;
  // Ends at once.
  virtual void drop() = 0;
};

}  // namespace cardhour::http
