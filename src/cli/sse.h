// Server-sent events, taken apart: bytes in, events out. Keeps the last id for resuming.
// Not thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace cardhour::cli {

struct StreamEvent {
  std::string id;
  std::string type;  // empty: "message"
  std::string data;
};

class SseParser {
 public:
  // Calls `on_event` for each event that `bytes` completes. False when a line grew over
  // its limit: the stream is not one of ours.
  bool feed(std::string_view bytes, const std::function<void(const StreamEvent&)>& on_event);
  const std::string& last_id() const { return last_id_; }

 private:
  void line(std::string_view text, const std::function<void(const StreamEvent&)>& on_event);

  std::string pending_;
  StreamEvent event_;
  std::string last_id_;
  bool has_data_ = false;
};

}  // namespace cardhour::cli
