// HTTP/1.1 as text, the parts that are pure: what a request head must satisfy beyond its
// grammar, the head of an answer, and the framing of server-sent events. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "adapters/http/http.h"
#include "base/error.h"

namespace cardhour::http {

// Refuses what two parsers could understand differently (request smuggling): both
// Content-Length and Transfer-Encoding, either of them twice, a coding other than
// chunked, and a missing, doubled or malformed Host. `minor` is of HTTP/1.x.
Status check_head(const Headers& headers, int minor);

enum class Connection { keep_alive, close };
enum class BodyLength { declared, until_close };

// The status line and header fields with the empty line. Adds Date, Content-Length,
// Connection, and safe defaults for Cache-Control and X-Content-Type-Options. Headers that
// cannot be sent (line breaks in them) give nullopt: a bug of a handler.
std::optional<std::string> response_head(const Response& response, Connection connection,
                                         BodyLength length);

// "id: ..\nevent: ..\ndata: ..\n\n"; line breaks in the data become several data lines,
// those in id and event are dropped.
std::string sse_frame(const SseEvent& event);

}  // namespace cardhour::http
