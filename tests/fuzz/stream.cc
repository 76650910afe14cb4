// Server-sent events: whatever cut the bytes are fed in, the same events come out; and what the
// server frames is what the CLI reads. The first byte is the size of the pieces.
#include "adapters/http/wire.h"
#include "base/check.h"
#include "cli/sse.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

namespace cardhour::fuzz {
namespace {

using Events = std::vector<std::string>;

Events read(std::string_view bytes, size_t piece) {
  cli::SseParser parser;
  Events events;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const bool fine = parser.feed(bytes.substr(at, piece), [&](const cli::StreamEvent& event) {
      events.push_back(event.id + "|" + event.type + "|" + event.data);
    });
    CHECK(fine, "inputs are shorter than a line may be");
  }
  return events;
}

std::string without(std::string_view text, std::string_view unwanted) {
  std::string result(text);
  std::erase_if(result, [&](char c) { return unwanted.find(c) != std::string_view::npos; });
  return result;
}

void run(std::string_view input) {
  if (input.empty()) return;
  const size_t piece = 1 + static_cast<unsigned char>(input.front()) % 64;
  input.remove_prefix(1);
  CHECK(read(input, piece) == read(input, input.size() + 1), "cuts change nothing");

  http::SseEvent event;
  event.id = take_line(input);
  event.event = take_line(input);
  event.data = input;
  const Events heard = read(http::sse_frame(event), piece);
  CHECK(heard.size() == 1, "a frame is one event");
  // Line breaks of any kind arrive as \n, and those of id and type are dropped.
  const std::string_view dropped("\r\n\0", 3);
  const std::string head = without(event.id, dropped) + "|" + without(event.event, dropped) + "|";
  CHECK(heard[0].starts_with(head), "id and type arrive");
  CHECK(without(heard[0].substr(head.size()), "\n") == without(event.data, "\r\n"),
        "the data arrives");
}

}  // namespace

Target stream_target() {
  return {
      "stream",
      run,
      {"data: ", "id: ", "event: ", ":", "\n\n", "\r\n", "\r", "retry: 1", "data", "\xef\xbb\xbf"}};
}

}  // namespace cardhour::fuzz
