#include "adapters/http/console.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/crypto.h"
#include "base/limits.h"

namespace cardhour::http {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNoncePlace = "__CSP_NONCE__";
constexpr std::string_view kIndexPath = "/index.html";

struct Encoding {
  std::string_view suffix;
  std::string_view name;
};
constexpr std::array<Encoding, 2> kEncodings{{{".br", "br"}, {".gz", "gzip"}}};

std::string_view type_of(std::string_view path) {
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".map", "application/json"},
      {".webmanifest", "application/manifest+json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".jpg", "image/jpeg"},
      {".webp", "image/webp"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".woff", "font/woff"},
      {".ttf", "font/ttf"},
      {".wasm", "application/wasm"},
      {".txt", "text/plain; charset=utf-8"},
  };
  for (const auto& [suffix, type] : kTypes) {
    if (path.ends_with(suffix)) return type;
  }
  return "application/octet-stream";
}

// Without a nonce nothing but the console's own files gives style.
void add_security_headers(Headers& headers, const std::string& nonce) {
  const std::string style = nonce.empty() ? "" : fmt::format(" 'nonce-{}'", nonce);
  headers.set("Content-Security-Policy",
              fmt::format("default-src 'none'; script-src 'self'; style-src 'self'{}; "
                          "img-src 'self' data:; font-src 'self'; connect-src 'self'; "
                          "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
                          style));
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("Referrer-Policy", "no-referrer");
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
}

bool lists(std::string_view list, std::string_view wanted) {
  const auto words = list_words(list);
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

// "/api" and what instances and probes ask: an unknown path below them is an error, not a page.
bool is_of_the_api(std::string_view path) {
  return path.starts_with("/api/") || path == "/api" || path.starts_with("/guest/");
}

bool is_hidden(const fs::path& relative) {
  return std::any_of(relative.begin(), relative.end(),
                     [](const fs::path& part) { return part.string().starts_with('.'); });
}

tl::unexpected<Error> too_large() {
  return fail(ErrorCode::too_large,
              text("the console's files are more than {} MiB or {} files",
                   "控制台文件超过 {} MiB 或 {} 个文件", limits::kConsoleBytes / 1024 / 1024,
                   limits::kConsoleFiles),
              {"Is --console the directory of a build?", "--console 是构建产物目录吗？"});
}

tl::unexpected<Error> unreadable(const std::string& place, const std::string& why) {
  return fail(ErrorCode::internal, text("cannot read the console's files at {}: {}",
                                        "无法读取控制台文件 {}：{}", place, why));
}

constexpr std::string_view kNotBuilt =
    "<!doctype html><html><head><meta charset=\"utf-8\"><title>Cardhour</title></head><body>"
    "<p>The console is not built. In the source tree: <code>cd web &amp;&amp; npm ci &amp;&amp; "
    "npm run build</code>, then start Cardhour again; or name a build with "
    "<code>--console DIR</code>. The API is at <a href=\"/api/v1/openapi.json\">"
    "/api/v1/openapi.json</a>.</p>"
    "<p lang=\"zh\">控制台尚未构建。请在源码目录运行 <code>cd web &amp;&amp; npm ci &amp;&amp; "
    "npm run build</code> 并重启 Cardhour，或用 <code>--console 目录</code> 指定构建产物。"
    "API 文档见 <a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>。</p>"
    "</body></html>\n";

}  // namespace

Result<std::shared_ptr<const Console>> Console::open(const std::string& directory,
                                                     Entropy& entropy) {
  std::shared_ptr<Console> console(new Console(entropy));
  TRY(console->read(directory));
  return std::shared_ptr<const Console>(std::move(console));
}

Status Console::read(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) return {};
  const fs::path root(directory);
  std::map<std::string, std::string> found;
  size_t bytes = 0;
  fs::recursive_directory_iterator entry(root, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path relative = entry->path().lexically_relative(root);
    // Links are left out: they could lead anywhere.
    const bool plain = entry->symlink_status(error).type() == fs::file_type::regular;
    if (error || !plain || is_hidden(relative)) continue;
    const size_t size = entry->file_size(error);
    if (error || bytes + size > limits::kConsoleBytes ||
        found.size() >= static_cast<size_t>(limits::kConsoleFiles)) {
      return too_large();
    }
    std::ifstream stream(entry->path(), std::ios::binary);
    if (!stream) return unreadable(entry->path().string(), std::strerror(errno));
    std::string content{std::istreambuf_iterator<char>(stream), {}};
    bytes += content.size();
    found.emplace("/" + relative.generic_string(), std::move(content));
  }
  if (error) return unreadable(directory, error.message());
  if (const auto index = found.find(std::string(kIndexPath)); index != found.end()) {
    index_ = std::move(index->second);
    found.erase(index);
  }
  for (auto& [path, content] : found) add(path, std::move(content));
  // A variant of nothing is nothing.
  std::erase_if(files_, [](const auto& named) {
    return named.second.variants.empty() || !named.second.variants.back().encoding.empty();
  });
  return {};
}

// In the order of paths: "a.js" before "a.js.br" before "a.js.gz".
void Console::add(const std::string& path, std::string content) {
  std::string of = path;
  std::string encoding;
  for (const Encoding& known : kEncodings) {
    if (!path.ends_with(known.suffix)) continue;
    of = path.substr(0, path.size() - known.suffix.size());
    encoding = known.name;
  }
  if (of == kIndexPath) return;  // each answer has a nonce of its own
  File& file = files_[of];
  file.type = type_of(of);
  file.immutable = of.starts_with("/assets/");
  Variant variant;
  variant.encoding = encoding;
  variant.etag = "\"" + hash_token(content).substr(0, 32) + "\"";
  variant.content = std::make_shared<const std::string>(std::move(content));
  // Before the plain one, which comes first and stays last.
  const auto place = encoding.empty()        ? file.variants.end()
                     : file.variants.empty() ? file.variants.end()
                                             : std::prev(file.variants.end());
  file.variants.insert(place, std::move(variant));
}

std::optional<Response> Console::answer(const Request& request) const {
  if (request.method != Method::get && request.method != Method::head) return std::nullopt;
  if (is_of_the_api(request.path)) return std::nullopt;
  if (const auto found = files_.find(request.path); found != files_.end()) {
    return file(found->second, request);
  }
  const bool root = request.path == "/" || request.path == kIndexPath;
  if (!root && !lists(request.header("Accept").value_or(""), "text/html")) return std::nullopt;
  return is_built() ? index() : not_built();
}

Response Console::file(const File& file, const Request& request) {
  const std::string_view accepted = request.header("Accept-Encoding").value_or("");
  const Variant* chosen = &file.variants.back();
  for (const Variant& variant : file.variants) {
    if (variant.encoding.empty() || !lists(accepted, variant.encoding)) continue;
    chosen = &variant;
    break;
  }
  Response response;
  add_security_headers(response.headers, "");
  response.headers.set("ETag", chosen->etag);
  response.headers.set("Cache-Control",
                       file.immutable ? "public, max-age=31536000, immutable" : "no-cache");
  if (file.variants.size() > 1) response.headers.set("Vary", "Accept-Encoding");
  const std::string_view known = request.header("If-None-Match").value_or("");
  if (known == "*" || lists(known, chosen->etag) || lists(known, "W/" + chosen->etag)) {
    response.status = 304;
    return response;
  }
  response.headers.set("Content-Type", file.type);
  if (!chosen->encoding.empty()) response.headers.set("Content-Encoding", chosen->encoding);
  response.file = chosen->content;
  return response;
}

// Without a validator: a copy that a browser kept would have the nonce of an older answer.
Response Console::index() const {
  std::array<uint8_t, 18> bits;
  entropy_.fill(bits);
  const std::string nonce = base64(bits);
  Response response;
  add_security_headers(response.headers, nonce);
  response.headers.set("Content-Type", "text/html; charset=utf-8");
  response.headers.set("Cache-Control", "no-cache");
  response.body.reserve(index_.size() + nonce.size());
  size_t from = 0;
  for (size_t at = index_.find(kNoncePlace); at != std::string::npos;
       at = index_.find(kNoncePlace, from)) {
    response.body.append(index_, from, at - from);
    response.body += nonce;
    from = at + kNoncePlace.size();
  }
  response.body.append(index_, from);
  return response;
}

Response Console::not_built() {
  Response response;
  response.status = 404;
  add_security_headers(response.headers, "");
  response.headers.set("Content-Type", "text/html; charset=utf-8");
  response.headers.set("Cache-Control", "no-cache");
  response.body = kNotBuilt;
  return response;
}

}  // namespace cardhour::http
