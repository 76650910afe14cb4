#include "adapters/http/console.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/limits.h"

namespace cardhour::http {
namespace {

namespace fs = std::filesystem;

class CountingEntropy final : public Entropy {
 public:
  void fill(std::span<uint8_t> bytes) override {
    for (uint8_t& byte : bytes) byte = next_++;
  }

 private:
  uint8_t next_ = 0;
};

class ConsoleTest : public testing::Test {
 protected:
  ConsoleTest() {
    std::string pattern = (fs::temp_directory_path() / "cardhour-console-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    dist_ = root_ / "dist";
  }
  ~ConsoleTest() override { fs::remove_all(root_); }

  void put(const std::string& name, const std::string& content) {
    fs::create_directories((dist_ / name).parent_path());
    std::ofstream(dist_ / name, std::ios::binary) << content;
  }
  // A build as Vite leaves it.
  void build() {
    put("index.html", "<html nonce=__CSP_NONCE__><style nonce=\"__CSP_NONCE__\"></html>");
    put("index.html.br", "never sent");
    put("favicon.svg", "<svg/>");
    put("assets/app-1a2b3c4d.js", "plain script");
    put("assets/app-1a2b3c4d.js.br", "brotli");
    put("assets/app-1a2b3c4d.js.gz", "gzip");
    put("assets/orphan.css.br", "a variant of nothing");
    put(".env", "SECRET=1");
    put(".vite/manifest.json", "{}");
  }
  void open() {
    auto opened = Console::open(dist_.string(), entropy_);
    ASSERT_TRUE(opened) << opened.error().what.en;
    console_ = *opened;
  }
  std::optional<Response> get(const std::string& path,
                              std::vector<std::pair<std::string, std::string>> headers = {},
                              Method method = Method::get) {
    Request request;
    request.method = method;
    request.path = path;
    request.headers.fields = std::move(headers);
    return console_->answer(request);
  }
  std::optional<Response> page(const std::string& path) {
    return get(path, {{"Accept", "text/html,application/xhtml+xml;q=0.9"}});
  }
  static std::string header(const std::optional<Response>& response, std::string_view name) {
    if (!response) return "(none)";
    return std::string(response->headers.find(name).value_or(""));
  }

  fs::path root_;
  fs::path dist_;
  CountingEntropy entropy_;
  std::shared_ptr<const Console> console_;
};

TEST_F(ConsoleTest, SaysHowToBuildItWhenItIsNotBuilt) {
  open();
  EXPECT_FALSE(console_->is_built());
  const auto response = get("/");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 404);
  EXPECT_NE(response->body.find("npm run build"), std::string::npos);
  EXPECT_NE(response->body.find("控制台尚未构建"), std::string::npos);
  EXPECT_NE(header(response, "Content-Security-Policy"), "");
}

TEST_F(ConsoleTest, EachPageHasANonceOfItsOwn) {
  build();
  open();
  EXPECT_TRUE(console_->is_built());
  std::set<std::string> nonces;
  for (const std::string path : {"/", "/index.html", "/"}) {
    const auto response = get(path);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body.find("__CSP_NONCE__"), std::string::npos);
    const std::string policy = header(response, "Content-Security-Policy");
    const size_t begin = policy.find("'nonce-") + 7;
    const std::string nonce = policy.substr(begin, policy.find('\'', begin) - begin);
    EXPECT_EQ(nonce.size(), 24u) << policy;
    EXPECT_EQ(response->body, "<html nonce=" + nonce + "><style nonce=\"" + nonce + "\"></html>");
    EXPECT_EQ(header(response, "Cache-Control"), "no-cache");
    EXPECT_EQ(header(response, "ETag"), "");
    nonces.insert(nonce);
  }
  EXPECT_EQ(nonces.size(), 3u);
}

TEST_F(ConsoleTest, EveryAnswerCarriesTheSecurityHeaders) {
  build();
  open();
  for (const std::string path : {"/", "/favicon.svg", "/assets/app-1a2b3c4d.js", "/instances/i1"}) {
    const auto response = page(path);
    const std::string policy = header(response, "Content-Security-Policy");
    EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"))
        << path << policy;
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos) << path;
    EXPECT_EQ(policy.find("unsafe"), std::string::npos) << path;
    EXPECT_EQ(header(response, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(response, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(header(response, "Cross-Origin-Opener-Policy"), "same-origin");
    EXPECT_EQ(header(response, "Cross-Origin-Resource-Policy"), "same-origin");
  }
}

TEST_F(ConsoleTest, PagesOfTheConsoleAreItsIndex) {
  build();
  open();
  EXPECT_EQ(page("/instances/i0123456789ab")->status, 200);
  EXPECT_NE(page("/wallet")->body.find("<html"), std::string::npos);
  EXPECT_FALSE(get("/wallet"));  // not a page that a person opens
  EXPECT_FALSE(get("/wallet", {{"Accept", "application/json"}}));
  EXPECT_FALSE(get("/wallet", {{"Accept", "text/html;q=0"}}));
  EXPECT_FALSE(get("/wallet", {{"Accept", "text/html"}}, Method::post));
  for (const std::string path : {"/api", "/api/v1/nothing", "/guest/x"}) {
    EXPECT_FALSE(page(path)) << path;
  }
  // A script that is gone (an old tab after an upgrade) is not answered by a page.
  EXPECT_FALSE(get("/assets/old-00000000.js", {{"Accept", "*/*"}}));
}

TEST_F(ConsoleTest, TheBestAcceptedVariantIsSent) {
  build();
  open();
  const std::string path = "/assets/app-1a2b3c4d.js";
  const auto sent = [&](const std::string& accepted) {
    const auto response = get(path, {{"Accept-Encoding", accepted}});
    EXPECT_EQ(header(response, "Vary"), "Accept-Encoding");
    EXPECT_EQ(header(response, "Content-Type"), "text/javascript; charset=utf-8");
    return header(response, "Content-Encoding") + ":" + *response->file;
  };
  EXPECT_EQ(sent("gzip, deflate, br"), "br:brotli");
  EXPECT_EQ(sent("gzip"), "gzip:gzip");
  EXPECT_EQ(sent("br;q=0, gzip;q=0.5"), "gzip:gzip");
  EXPECT_EQ(sent("br;q=0.000"), ":plain script");
  EXPECT_EQ(sent(""), ":plain script");
  EXPECT_EQ(sent("identity"), ":plain script");
}

TEST_F(ConsoleTest, NamesThatChangeWithTheirContentAreKeptForGood) {
  build();
  open();
  EXPECT_EQ(header(get("/assets/app-1a2b3c4d.js"), "Cache-Control"),
            "public, max-age=31536000, immutable");
  EXPECT_EQ(header(get("/favicon.svg"), "Cache-Control"), "no-cache");
  EXPECT_EQ(header(get("/favicon.svg"), "Content-Type"), "image/svg+xml");
}

TEST_F(ConsoleTest, AKnownCopyIsNotSentAgain) {
  build();
  open();
  const std::string path = "/favicon.svg";
  const std::string etag = header(get(path), "ETag");
  EXPECT_EQ(etag.size(), 34u);
  for (const std::string& known : {etag, "W/" + etag, "\"other\", " + etag, std::string("*")}) {
    const auto response = get(path, {{"If-None-Match", known}});
    EXPECT_EQ(response->status, 304) << known;
    EXPECT_EQ(response->file, nullptr);
    EXPECT_EQ(header(response, "ETag"), etag);
  }
  EXPECT_EQ(get(path, {{"If-None-Match", "\"other\""}})->status, 200);
  // Variants are told apart.
  const std::string script = "/assets/app-1a2b3c4d.js";
  EXPECT_NE(header(get(script), "ETag"), header(get(script, {{"Accept-Encoding", "br"}}), "ETag"));
  EXPECT_EQ(get(path, {}, Method::head)->status, 200);
}

TEST_F(ConsoleTest, NothingButTheBuildCanBeReached) {
  build();
  std::ofstream(root_ / "secret.key") << "key";
  fs::create_symlink(root_ / "secret.key", dist_ / "assets" / "link.js");
  fs::create_directory_symlink(root_, dist_ / "up");
  open();
  for (const std::string path :
       {"/.env", "/.vite/manifest.json", "/assets/link.js", "/up/secret.key", "/../secret.key",
        "/assets/../../secret.key", "/assets", "/assets/", "/index.html.br", "/assets/orphan.css",
        "/assets/orphan.css.br", "/assets/app-1a2b3c4d.js.br", "//favicon.svg", "favicon.svg"}) {
    EXPECT_FALSE(get(path)) << path;
  }
}

TEST_F(ConsoleTest, WhatIsTooLargeIsRefused) {
  build();
  for (int i = 0; i < limits::kConsoleFiles; ++i) put("many/" + std::to_string(i), "");
  const auto many = Console::open(dist_.string(), entropy_);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, ErrorCode::too_large);
  fs::remove_all(dist_ / "many");
  put("large", "");
  fs::resize_file(dist_ / "large", limits::kConsoleBytes);  // sparse: refused before it is read
  const auto large = Console::open(dist_.string(), entropy_);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace cardhour::http
