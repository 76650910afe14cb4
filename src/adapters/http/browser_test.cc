#include "adapters/http/browser.h"

#include <gtest/gtest.h>

namespace cardhour::http {
namespace {

Request with(std::vector<std::pair<std::string, std::string>> fields,
             Request::Transport transport = Request::Transport::plain) {
  Request request;
  request.headers.fields = std::move(fields);
  request.transport = transport;
  return request;
}

TEST(Browser, FindsItsCookieAmongOthers) {
  EXPECT_EQ(session_cookie(with({})), "");
  EXPECT_EQ(session_cookie(with({{"Cookie", "a=1; cardhour_session=s3cret; b=2"}})), "s3cret");
  EXPECT_EQ(session_cookie(with({{"cookie", "a=1"}, {"Cookie", "cardhour_session=x"}})), "x");
  EXPECT_EQ(session_cookie(with({{"Cookie", "xcardhour_session=1;cardhour_session"}})), "");
  // Over TLS only the name that no other site and no plain page can set.
  const auto tls = Request::Transport::tls;
  EXPECT_EQ(session_cookie(with({{"Cookie", "cardhour_session=tossed"}}, tls)), "");
  EXPECT_EQ(session_cookie(with({{"Cookie", "__Host-cardhour_session=ours"}}, tls)), "ours");
  EXPECT_EQ(session_cookie(
                with({{"Cookie", "__Host-cardhour_session=ours"}, {"X-Forwarded-Proto", "https"}})),
            "ours");
}

TEST(Browser, CookiesAreKeptFromScriptsAndOtherSites) {
  EXPECT_EQ(set_session_cookie(with({}), "s", hours(1)),
            "cardhour_session=s; Path=/; HttpOnly; SameSite=Strict; Max-Age=3600");
  EXPECT_EQ(set_session_cookie(with({}, Request::Transport::tls), "s", hours(1)),
            "__Host-cardhour_session=s; Path=/; HttpOnly; SameSite=Strict; Max-Age=3600; Secure");
  EXPECT_EQ(clear_session_cookie(with({})),
            "cardhour_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
}

TEST(Browser, OnlyTheOwnOriginMayAsk) {
  const auto allowed = [](std::vector<std::pair<std::string, std::string>> fields,
                          Request::Transport transport = Request::Transport::plain) {
    fields.emplace_back("Host", "Cloud.example:8080");
    return check_origin(with(std::move(fields), transport)).has_value();
  };
  EXPECT_TRUE(allowed({}));  // a program, not a browser
  EXPECT_TRUE(allowed({{"Origin", "http://cloud.example:8080"}}));
  EXPECT_TRUE(
      allowed({{"Origin", "https://cloud.example:8080"}, {"Sec-Fetch-Site", "same-origin"}}));
  EXPECT_FALSE(allowed({{"Origin", "http://cloud.example:8081"}}));
  EXPECT_FALSE(allowed({{"Origin", "http://cloud.example"}}));
  EXPECT_FALSE(allowed({{"Origin", "http://evil.example:8080"}}));
  EXPECT_FALSE(allowed({{"Origin", "http://cloud.example:8080.evil.example"}}));
  EXPECT_FALSE(allowed({{"Origin", "null"}}));
  EXPECT_FALSE(allowed({{"Origin", ""}}));
  for (const char* site : {"cross-site", "same-site", "none", ""}) {
    EXPECT_FALSE(allowed({{"Sec-Fetch-Site", site}})) << site;
  }
  EXPECT_FALSE(allowed({{"Origin", "http://cloud.example:8080"}, {"Sec-Fetch-Site", "same-site"}}));
  EXPECT_FALSE(allowed({{"Origin", "http://cloud.example:8080"}}, Request::Transport::tls));
  EXPECT_TRUE(allowed({{"Origin", "https://cloud.example:8080"}}, Request::Transport::tls));
}

}  // namespace
}  // namespace cardhour::http
