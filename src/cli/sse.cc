#include "cli/sse.h"

namespace cardhour::cli {
namespace {

constexpr size_t kLineBytesMax = 1 << 20;

}  // namespace

bool SseParser::feed(std::string_view bytes,
                     const std::function<void(const StreamEvent&)>& on_event) {
  pending_.append(bytes);
  size_t begin = 0;
  for (size_t end = pending_.find('\n'); end != std::string::npos;
       end = pending_.find('\n', begin)) {
    std::string_view text(pending_.data() + begin, end - begin);
    if (text.ends_with('\r')) text.remove_suffix(1);
    line(text, on_event);
    begin = end + 1;
  }
  pending_.erase(0, begin);
  return pending_.size() <= kLineBytesMax && event_.data.size() <= kLineBytesMax;
}

void SseParser::line(std::string_view text,
                     const std::function<void(const StreamEvent&)>& on_event) {
  if (text.empty()) {
    if (has_data_) {
      event_.id = last_id_;
      on_event(event_);
    }
    event_ = {};
    has_data_ = false;
    return;
  }
  const size_t colon = text.find(':');
  if (colon == 0) return;  // a comment: a sign of life
  const std::string_view field = text.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "id") last_id_ = value;
  if (field == "event") event_.type = value;
  if (field == "data") {
    if (has_data_) event_.data.push_back('\n');
    event_.data.append(value);
    has_data_ = true;
  }
}

}  // namespace cardhour::cli
