// What is special about browsers: they send cookies along to every port of a host name, and
// requests that a foreign page made. So the session cookie alone opens nothing: a second
// secret comes in a header that only our own page can set, and whatever a browser asks must
// come from our own origin. Pure functions, thread-safe.
#pragma once

#include <optional>
#include <string>

#include "adapters/http/http.h"
#include "base/error.h"

namespace cardhour::http {

inline constexpr std::string_view kSessionHeader = "Cardhour-Session";

// True when the browser speaks TLS, to us or to a proxy in front of us.
bool is_secure(const Request& request);

// The session cookie that came along; empty when there is none.
std::string session_cookie(const Request& request);
// Values of Set-Cookie. Beyond plain HTTP the name is bound to this host (`__Host-`), so that
// nobody else can set it.
std::string set_session_cookie(const Request& request, const std::string& secret, Duration age);
std::string clear_session_cookie(const Request& request);

// forbidden when the request says that another site, or another port of this host, made it:
// Origin and Sec-Fetch-Site, where they are present.
Status check_origin(const Request& request);

}  // namespace cardhour::http
