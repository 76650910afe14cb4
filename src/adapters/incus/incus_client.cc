#include "adapters/incus/incus_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "base/check.h"

namespace cardhour {
namespace json = boost::json;
namespace {

// 1000 instances with their configuration are about 8 MiB.
constexpr size_t kAnswerBytesMax = 32 * 1024 * 1024;
constexpr size_t kIdleHandlesMax = 16;
constexpr Duration kConnectPatience = seconds(3);
// For an answer that is not an operation. A file is pushed in 64 ms, a volume made in 20.
constexpr Duration kAnswerPatience = seconds(30);
constexpr int kStatusSuccess = 200;
constexpr int kStatusFinalFrom = 200;

struct Sink {
  std::string body;
  std::string etag;
  bool too_large = false;
};

size_t write_body(char* data, size_t size, size_t count, void* user) {
  auto* sink = static_cast<Sink*>(user);
  if (sink->body.size() + size * count > kAnswerBytesMax) {
    sink->too_large = true;
    return 0;
  }
  sink->body.append(data, size * count);
  return size * count;
}

size_t read_header(char* data, size_t size, size_t count, void* user) {
  std::string_view line(data, size * count);
  constexpr std::string_view kName = "etag:";
  const bool is_etag = line.size() > kName.size() &&
                       std::equal(kName.begin(), kName.end(), line.begin(), [](char a, char b) {
                         return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
                       });
  if (is_etag) {
    line.remove_prefix(kName.size());
    const size_t first = line.find_first_not_of(' ');
    const size_t last = line.find_last_not_of("\r\n ");
    if (first != std::string_view::npos) {
      static_cast<Sink*>(user)->etag = line.substr(first, last - first + 1);
    }
  }
  return size * count;
}

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

int64_t number_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

Error unavailable(const std::string& why_en, const std::string& why_zh) {
  return Error{ErrorCode::engine_unavailable,
               Text{"Incus " + why_en, "Incus " + why_zh},
               Text{"Check that incusd runs (cardhour admin host ls); it is tried again.",
                    "请检查 incusd 是否在运行（cardhour admin host ls）；系统会重试。"},
               {}};
}

// The one function from Incus's errors to ours. `code` is HTTP's.
Error error_of(int64_t code, const std::string& said) {
  const auto says = [&said](std::string_view words) {
    return said.find(words) != std::string::npos;
  };
  const bool busy = says("is busy running a") || says("Instance is busy");
  if (code == 502 || code == 503 || code == 504 || busy) {
    return unavailable("cannot answer now: " + said, "暂时无法处理：" + said);
  }
  ErrorCode ours = ErrorCode::engine_failed;
  if (code == 404) ours = ErrorCode::not_found;
  if (code == 412) ours = ErrorCode::conflict;
  return Error{ours, text("Incus refused: {}", "Incus 拒绝了请求：{}", said), {}, {}};
}

}  // namespace

struct IncusClient::Call {
  std::string method = "GET";
  std::string url;
  std::string body;
  std::vector<std::string> headers;
  Duration patience = kAnswerPatience;
};

struct IncusClient::Reply {
  json::object envelope;
  std::string etag;

  bool is_operation() const { return text_at(envelope, "type") == "async"; }
  json::value metadata() const {
    const json::value* value = envelope.if_contains("metadata");
    return value != nullptr ? *value : json::value();
  }
};

IncusClient::IncusClient(std::string socket, std::string project)
    : socket_(std::move(socket)), project_(std::move(project)) {
  CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK, "libcurl does not start");
}

IncusClient::~IncusClient() {
  for (void* handle : idle_) curl_easy_cleanup(handle);
}

void* IncusClient::take_handle() {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      void* handle = idle_.back();
      idle_.pop_back();
      return handle;
    }
  }
  void* handle = curl_easy_init();
  CHECK(handle != nullptr, "libcurl is out of memory");
  return handle;
}

void IncusClient::give_handle(void* handle) {
  curl_easy_reset(handle);  // keeps the connection
  std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleHandlesMax) {
    idle_.push_back(handle);
  } else {
    curl_easy_cleanup(handle);
  }
}

std::string url_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string IncusClient::url(std::string_view path) const {
  const char join = path.find('?') == std::string_view::npos ? '?' : '&';
  return fmt::format("http://incus{}{}project={}", path, join, url_escaped(project_));
}

Result<IncusClient::Reply> IncusClient::perform(const Call& call) {
  Sink sink;
  void* handle = take_handle();
  curl_slist* headers = curl_slist_append(nullptr, "Expect:");
  for (const std::string& header : call.headers) {
    headers = curl_slist_append(headers, header.c_str());
  }
  curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, socket_.c_str());
  curl_easy_setopt(handle, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  if (call.method != "GET") {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call.body.data());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(call.body.size()));
  }
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_PROXY, "");
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(kConnectPatience.ms));
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(call.patience.ms));
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, write_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, read_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &sink);
  const CURLcode code = curl_easy_perform(handle);
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  curl_slist_free_all(headers);
  give_handle(handle);

  if (sink.too_large) {
    return fail(error_of(500, fmt::format("an answer over {} bytes", kAnswerBytesMax)));
  }
  if (code != CURLE_OK) {
    const std::string why = fmt::format("({}): {}", socket_, curl_easy_strerror(code));
    return fail(unavailable("does not answer " + why, "没有响应 " + why));
  }
  boost::system::error_code wrong;
  json::value parsed = json::parse(sink.body, wrong);
  if (wrong || !parsed.is_object()) {
    return fail(error_of(status < 400 ? 500 : status, "an answer that is not JSON"));
  }
  Reply reply{std::move(parsed.get_object()), std::move(sink.etag)};
  if (text_at(reply.envelope, "type") == "error") {
    return fail(
        error_of(number_at(reply.envelope, "error_code"), text_at(reply.envelope, "error")));
  }
  return reply;
}

Result<IncusDocument> IncusClient::get_document(std::string_view path) {
  TRY_ASSIGN(const Reply reply, perform({.url = url(path)}));
  return IncusDocument{reply.metadata(), reply.etag};
}

Result<json::value> IncusClient::get(std::string_view path) {
  TRY_ASSIGN(IncusDocument document, get_document(path));
  return std::move(document.metadata);
}

Result<json::object> IncusClient::begin(const Change& change) {
  Call call{.method = change.method, .url = url(change.path)};
  if (!change.body.is_null()) {
    call.body = json::serialize(change.body);
    call.headers.emplace_back("Content-Type: application/json");
  }
  if (!change.etag.empty()) call.headers.push_back("If-Match: " + change.etag);
  TRY_ASSIGN(const Reply reply, perform(call));
  if (!reply.is_operation()) return json::object();
  json::value operation = reply.metadata();
  if (!operation.is_object()) return fail(error_of(500, "an operation without description"));
  return std::move(operation.get_object());
}

Status IncusClient::change(const Change& change) {
  TRY_ASSIGN(const json::object operation, begin(change));
  if (operation.empty()) return {};
  TRY_ASSIGN(const json::object done, wait(text_at(operation, "id"), change.patience));
  const int64_t code = number_at(done, "status_code");
  if (code == kStatusSuccess) return {};
  return fail(error_of(code, text_at(done, "err")));
}

Result<json::object> IncusClient::wait(std::string_view operation_id, Duration patience) {
  // Timeouts are whole seconds there; the daemon answers "still running" when they pass.
  const int64_t whole_seconds = (patience.ms + 999) / 1000;
  const Call call{.url = url(fmt::format("/1.0/operations/{}/wait?timeout={}", operation_id,
                                         std::max<int64_t>(whole_seconds, 1))),
                  .patience = seconds(whole_seconds) + seconds(10)};
  auto reply = perform(call);
  const bool lost = !reply && reply.error().code == ErrorCode::not_found &&
                    reply.error().what.en.find("peration not found") != std::string::npos;
  if (lost) {
    // A daemon that was restarted knows no operations: what became of it is unknown.
    return fail(unavailable("lost the operation", "丢失了该操作"));
  }
  if (!reply) return fail(std::move(reply).error());
  json::value operation = reply->metadata();
  if (!operation.is_object()) return fail(error_of(500, "an operation without description"));
  json::object& done = operation.get_object();
  if (number_at(done, "status_code") < kStatusFinalFrom) {
    const std::string what = text_at(done, "description");
    return fail(unavailable(fmt::format("still works at \"{}\" after {} s", what, whole_seconds),
                            fmt::format("在 {1} 秒后仍在执行“{0}”", what, whole_seconds)));
  }
  return std::move(done);
}

Status IncusClient::push_file(std::string_view instance, const IncusFile& file) {
  const bool directory = file.kind == IncusFile::Kind::directory;
  Call call{
      .method = "POST",
      .url = url(fmt::format("/1.0/instances/{}/files?path={}", instance, url_escaped(file.path))),
      .body = file.content};
  // Without this content type an empty file is written, silently.
  call.headers = {"Content-Type: application/octet-stream",
                  "X-Incus-uid: 0",
                  "X-Incus-gid: 0",
                  fmt::format("X-Incus-mode: {:04o}", file.mode),
                  directory ? "X-Incus-type: directory" : "X-Incus-type: file",
                  "X-Incus-write: overwrite"};
  TRY(perform(call));
  return {};
}

}  // namespace cardhour
