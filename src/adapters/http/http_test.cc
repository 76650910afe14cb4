#include "adapters/http/http.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "adapters/http/server.h"
#include "adapters/http/wire.h"
#include "base/limits.h"

namespace cardhour::http {
namespace {

TEST(Target, IsDecodedOnce) {
  const auto target = parse_target("/a%20b/%E5%8D%A1?x=1%2B2&y=a+b&flag&=&z=%2525");
  ASSERT_TRUE(target) << target.error().what.en;
  EXPECT_EQ(target->path, "/a b/卡");
  EXPECT_EQ(target->query.at("x"), "1+2");
  EXPECT_EQ(target->query.at("y"), "a b");
  EXPECT_EQ(target->query.at("flag"), "");
  EXPECT_EQ(target->query.at("z"), "%25");
  EXPECT_EQ(parse_target("/?a=b=c")->query.at("a"), "b=c");
  EXPECT_EQ(parse_target("/dir/")->path, "/dir/");
}

TEST(Target, StrangeFormsAreRefused) {
  for (const char* text :
       {"",          "a",       "*",           "http://host/a", "//host/a",     "/a//b",
        "/./a",      "/a/..",   "/a/%2e%2e/b", "/a%2fb",        "/a%5cb",       "/a%00",
        "/a%0a",     "/%",      "/%4",         "/%zz",          "/%ff",         "/a#b",
        "/?a=1&a=2", "/?a=%0d", "/?%c0%80",    "/%ed%a0%80",    "/%f5%80%80%80"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
}

TEST(Target, NoPathEscapes) {
  EXPECT_TRUE(rc::check("a decoded path has no dot segments or controls", [] {
    const auto parts = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("/", ".", "..", "%2e", "%2f", "a", "?", "%", "\x01", "%25"));
    std::string text = "/";
    for (const auto& part : parts) text += part;
    const auto target = parse_target(text);
    if (!target) return;
    RC_ASSERT((target->path + "/").find("/../") == std::string::npos);
    RC_ASSERT((target->path + "/").find("/./") == std::string::npos);
    RC_ASSERT(target->path.find("//") == std::string::npos);
    RC_ASSERT(target->path.find('\x01') == std::string::npos);
  }));
}

TEST(Languages, TheHeaviestOfOursWins) {
  EXPECT_EQ(language_of(""), Language::en);
  EXPECT_EQ(language_of("zh-CN,zh;q=0.9,en;q=0.8"), Language::zh);
  EXPECT_EQ(language_of("en-US,en;q=0.9,zh;q=0.8"), Language::en);
  EXPECT_EQ(language_of("fr, zh-TW;q=0.3, en;q=0.2"), Language::zh);
  EXPECT_EQ(language_of("en;q=0, zh;q=0.1"), Language::zh);
  EXPECT_EQ(language_of("zh;q=0"), Language::en);
  EXPECT_EQ(language_of("zh, en"), Language::zh);
  EXPECT_EQ(language_of("en, zh"), Language::en);
  EXPECT_EQ(language_of("de"), Language::en);
  EXPECT_EQ(language_of(",;q=,,zh;q="), Language::zh);
}

TEST(HeadersTest, CompareNamesWithoutCase) {
  Headers headers;
  headers.add("Set-Cookie", "a");
  headers.add("set-cookie", "b");
  EXPECT_EQ(headers.find("SET-COOKIE"), "a");
  EXPECT_EQ(headers.count("Set-Cookie"), 2u);
  headers.set("Set-cookie", "c");
  EXPECT_EQ(headers.count("Set-Cookie"), 1u);
  EXPECT_EQ(headers.find("cookie"), std::nullopt);
}

TEST(Queries, PagesAndWaits) {
  Request request;
  EXPECT_EQ(page_limit(request), limits::kPageDefault);
  EXPECT_EQ(wait_asked(request), Duration{});
  request.query = {{"limit", "100"}, {"wait", "30s"}};
  EXPECT_EQ(page_limit(request), 100);
  EXPECT_EQ(wait_asked(request), seconds(30));
  request.query["wait"] = "10m";
  EXPECT_EQ(wait_asked(request), seconds(limits::kWaitSecondsMax));
  for (const char* bad : {"0", "101", "-1", "x", "", "99999999999"}) {
    request.query["limit"] = bad;
    EXPECT_FALSE(page_limit(request)) << bad;
  }
  request.query["wait"] = "soon";
  EXPECT_EQ(wait_asked(request).error().field, "wait");
}

TEST(Heads, AmbiguousOnesAreRefused) {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  const auto fits = [](Fields fields, int minor = 1) {
    return check_head(Headers{std::move(fields)}, minor).has_value();
  };
  EXPECT_TRUE(fits({{"Host", "a.example:8080"}}));
  EXPECT_TRUE(fits({{"Host", "[::1]:80"}, {"Content-Length", "3"}}));
  EXPECT_TRUE(fits({{"Host", "a"}, {"Transfer-Encoding", "Chunked"}}));
  EXPECT_TRUE(fits({}, 0));
  EXPECT_FALSE(fits({}));
  EXPECT_FALSE(fits({{"Host", "a"}, {"host", "a"}}));
  EXPECT_FALSE(fits({{"Host", ""}}));
  EXPECT_FALSE(fits({{"Host", "a/b"}}));
  EXPECT_FALSE(fits({{"Host", "user@a"}}));
  EXPECT_FALSE(fits({{"Host", "a"}, {"Content-Length", "1"}, {"Transfer-Encoding", "chunked"}}));
  EXPECT_FALSE(fits({{"Host", "a"}, {"Content-Length", "1"}, {"Content-Length", "1"}}));
  EXPECT_FALSE(fits({{"Host", "a"}, {"Transfer-Encoding", "gzip, chunked"}}));
  EXPECT_FALSE(fits({{"Host", "a"}, {"Transfer-Encoding", "identity"}}));
  EXPECT_FALSE(fits({{"Transfer-Encoding", "chunked"}}, 0));
}

TEST(Heads, OfAnswers) {
  Response response = text_response(200, "hello");
  response.headers.set("Content-Length", "99");  // ours to say
  const auto head = response_head(response, Connection::keep_alive, BodyLength::declared);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->substr(0, 17), "HTTP/1.1 200 OK\r\n");
  EXPECT_NE(head->find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_EQ(head->find("99"), std::string::npos);
  EXPECT_NE(head->find("X-Content-Type-Options: nosniff\r\n"), std::string::npos);
  EXPECT_TRUE(head->ends_with("\r\n\r\n"));
  response.headers.set("X-Name", "a\r\nSet-Cookie: stolen=1");
  EXPECT_FALSE(response_head(response, Connection::close, BodyLength::declared));
  EXPECT_EQ(
      response_head(no_content(), Connection::close, BodyLength::declared)->find("Content-Length"),
      std::string::npos);
}

TEST(Frames, CannotBeBrokenByTheirText) {
  EXPECT_EQ(sse_frame({"7", "instance", "{\"a\":1}"}),
            "id: 7\nevent: instance\ndata: {\"a\":1}\n\n");
  EXPECT_EQ(sse_frame({"", "", "a\nb\r\nc\rid: 9"}), "data: a\ndata: b\ndata: c\ndata: id: 9\n\n");
  EXPECT_EQ(sse_frame({"1\nid: 2", "x\r", ""}), "id: 1id: 2\nevent: x\ndata: \n\n");
}

TEST(Listen, AddressesAreRead) {
  EXPECT_EQ(parse_listen("8080")->address, "127.0.0.1");
  EXPECT_EQ(parse_listen(":8080")->port, 8080);
  EXPECT_EQ(parse_listen("0.0.0.0:443")->address, "0.0.0.0");
  EXPECT_EQ(parse_listen("[::1]:0")->address, "::1");
  for (const char* bad : {"", "x", "127.0.0.1:", "127.0.0.1:65536", "host:80", "1.2.3:4"}) {
    EXPECT_FALSE(parse_listen(bad)) << bad;
  }
}

}  // namespace
}  // namespace cardhour::http
