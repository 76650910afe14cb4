#include "cli/client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <random>

#include "base/check.h"
#include "cli/decode.h"
#include "cli/terminal.h"

namespace cardhour::cli {
namespace {

constexpr long kConnectSeconds = 10;
constexpr long kRequestSeconds = 60;       // a page of a bill over a slow line
constexpr long kStreamSilentSeconds = 45;  // the server sends a sign of life each 15 s
constexpr size_t kAnswerBytesMax = 64 << 20;
constexpr std::string_view kApi = "/api/v1";

// 128 random bits as text: a key that no other request has.
std::string random_key() {
  std::random_device device;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string key = "cli-";
  for (int word = 0; word < 4; ++word) {
    const unsigned bits = device();
    for (unsigned shift = 0; shift < 32; shift += 4) key.push_back(kDigits[(bits >> shift) & 15U]);
  }
  return key;
}

struct SlistFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, SlistFree>;

void add_header(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  CHECK(longer != nullptr, "memory for a header");
  list.release();
  list.reset(longer);
}

// Ctrl-C ends a transfer within a second.
int on_progress(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return InterruptWatch::seen() ? 1 : 0;
}

template <class... Values>
void set(void* curl, CURLoption option, Values... values) {
  CHECK(curl_easy_setopt(curl, option, values...) == CURLE_OK, "an option that libcurl knows");
}

// The request may have reached the server, and only its answer was lost.
bool answer_was_lost(CURLcode code) {
  return code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_PARTIAL_FILE ||
         code == CURLE_OPERATION_TIMEDOUT || code == CURLE_SEND_ERROR;
}

bool is_certificate_problem(CURLcode code) { return code == CURLE_PEER_FAILED_VERIFICATION; }

}  // namespace

// What OpenSSL asks while a connection is made: is this certificate the pinned one, or, with
// no pin, one that a known authority signed?
struct Client::Tls {
  static std::string fingerprint_of(X509_STORE_CTX* store) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    X509* leaf = X509_STORE_CTX_get0_cert(store);
    if (leaf == nullptr || X509_digest(leaf, EVP_sha256(), digest.data(), &size) != 1) return {};
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
      text += fmt::format("{}{:02X}", i == 0 ? "" : ":", digest.at(i));
    }
    return text;
  }

  static int verify(X509_STORE_CTX* store, void* self) {
    auto& client = *static_cast<Client*>(self);
    const std::string seen = fingerprint_of(store);
    const auto& pinned = client.options_.fingerprint;
    const bool trusted = pinned ? seen == *pinned : X509_verify_cert(store) == 1;
    if (trusted) return 1;
    if (pinned) X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
    client.refused_fingerprint_ = seen;
    return 0;
  }

  static CURLcode on_context(CURL*, void* context, void* self) {
    SSL_CTX_set_cert_verify_callback(static_cast<SSL_CTX*>(context), verify, self);
    return CURLE_OK;
  }
};

struct Client::Call {
  const char* method = "GET";
  std::string path;
  const std::string* body = nullptr;
  std::string key;      // Idempotency-Key; empty: none
  std::string last_id;  // of a stream
  bool is_stream = false;
  // Takes the bytes of a stream; false ends it.
  std::function<bool(std::string_view)> take;
};

struct Client::Answer {
  CURLcode code = CURLE_OK;
  std::string why;  // of a failure below HTTP
  int status = 0;
  std::string body;
  const Call* call = nullptr;
  void* curl = nullptr;

  static size_t on_bytes(char* bytes, size_t one, size_t count, void* self) {
    auto& answer = *static_cast<Answer*>(self);
    const size_t size = one * count;
    if (answer.status == 0) {
      long status = 0;
      curl_easy_getinfo(answer.curl, CURLINFO_RESPONSE_CODE, &status);
      answer.status = static_cast<int>(status);
    }
    if (answer.call->take && answer.status == 200) {
      return answer.call->take(std::string_view(bytes, size)) ? size : 0;
    }
    if (answer.body.size() + size > kAnswerBytesMax) return 0;
    answer.body.append(bytes, size);
    return size;
  }
};

std::string path_segment(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos) {
      out.push_back(c);
    } else {
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return out;
}

std::string query_text(const Query& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    out += (out.empty() ? "?" : "&") + name + "=" + path_segment(value);
  }
  return out;
}

Client::Client(Options options) : options_(std::move(options)), curl_(curl_easy_init()) {
  CHECK(curl_ != nullptr, "libcurl gives a handle");
}

Client::~Client() { curl_easy_cleanup(curl_); }

Client::Answer Client::perform(const Call& call) {
  std::array<char, CURL_ERROR_SIZE> why{};
  Answer answer;
  answer.call = &call;
  answer.curl = curl_;
  curl_easy_reset(curl_);  // keeps the connection
  HeaderList headers;
  add_header(headers,
             std::string("Accept-Language: ") + (options_.language == Language::zh ? "zh" : "en"));
  add_header(headers, "User-Agent: cardhour-cli/" + options_.version);
  add_header(headers, "Expect:");
  if (has_token()) add_header(headers, "Authorization: Bearer " + options_.token.reveal());
  if (call.body != nullptr) add_header(headers, "Content-Type: application/json");
  if (!call.key.empty()) add_header(headers, "Idempotency-Key: " + call.key);
  if (call.is_stream) add_header(headers, "Accept: text/event-stream");
  if (!call.last_id.empty()) add_header(headers, "Last-Event-ID: " + call.last_id);
  const std::string url = options_.server + std::string(kApi) + call.path;
  set(curl_, CURLOPT_URL, url.c_str());
  set(curl_, CURLOPT_PROTOCOLS_STR, "http,https");
  set(curl_, CURLOPT_CUSTOMREQUEST, call.method);
  set(curl_, CURLOPT_HTTPHEADER, headers.get());
  if (call.body != nullptr) {
    set(curl_, CURLOPT_POSTFIELDS, call.body->c_str());
    set(curl_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body->size()));
  }
  refused_fingerprint_.clear();
  set(curl_, CURLOPT_SSL_CTX_FUNCTION, &Tls::on_context);
  set(curl_, CURLOPT_SSL_CTX_DATA, static_cast<void*>(this));
  // A pinned certificate says who it is; its names may be of the inside of a network.
  if (options_.fingerprint) set(curl_, CURLOPT_SSL_VERIFYHOST, 0L);
  set(curl_, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  if (call.is_stream) {
    set(curl_, CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(curl_, CURLOPT_LOW_SPEED_TIME, kStreamSilentSeconds);
  } else {
    set(curl_, CURLOPT_TIMEOUT, kRequestSeconds);
  }
  set(curl_, CURLOPT_NOPROGRESS, 0L);
  set(curl_, CURLOPT_XFERINFOFUNCTION, on_progress);
  set(curl_, CURLOPT_WRITEFUNCTION, &Answer::on_bytes);
  set(curl_, CURLOPT_WRITEDATA, static_cast<void*>(&answer));
  set(curl_, CURLOPT_ERRORBUFFER, why.data());
  answer.code = curl_easy_perform(curl_);
  long status = 0;
  curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  answer.why = why[0] != '\0' ? why.data() : curl_easy_strerror(answer.code);
  return answer;
}

Error Client::unreachable(const Answer& answer) const {
  if (InterruptWatch::seen()) {
    return Error{ErrorCode::internal, {"interrupted", "已中断"}, {}, {}};
  }
  if (is_certificate_problem(answer.code)) {
    return Error{ErrorCode::engine_unavailable,
                 text("the certificate of {} is not trusted: {}", "{} 的证书不受信任：{}",
                      options_.server, answer.why),
                 {"If it is self-signed, log in again (cardhour login URL) and compare the "
                  "fingerprint with the one that the server printed at start; in scripts, "
                  "--fingerprint.",
                  "如果是自签名证书，请重新登录（cardhour login URL）并与服务器启动时打印的"
                  "指纹核对；脚本中使用 --fingerprint。"},
                 {}};
  }
  return Error{ErrorCode::engine_unavailable,
               text("cannot reach {}: {}", "无法连接 {}：{}", options_.server, answer.why),
               {"Is the address right and the server running? Another one: --server URL.",
                "请确认地址正确且服务器在运行；可用 --server URL 指定其他服务器。"},
               {}};
}

Result<std::string> Client::request(const Call& call) {
  Answer answer = perform(call);
  const bool again = !call.key.empty() && answer_was_lost(answer.code);
  if (again && !InterruptWatch::seen()) answer = perform(call);
  if (answer.code != CURLE_OK) return fail(unreachable(answer));
  if (answer.status < 200 || answer.status > 299) {
    Error error = problem_error(answer.status, answer.body);
    if (error.code == ErrorCode::unauthenticated && has_token() && error.next == Text{}) {
      error.next =
          text("Log in again: cardhour login {}", "请重新登录：cardhour login {}", options_.server);
    }
    return fail(std::move(error));
  }
  return std::move(answer.body);
}

Result<std::string> Client::get(const std::string& path, const Query& query) {
  return request(Call{.method = "GET", .path = path + query_text(query)});
}

Result<std::string> Client::post(const std::string& path, const std::string& json, Effect effect) {
  return request(Call{.method = "POST",
                      .path = path,
                      .body = &json,
                      .key = effect == Effect::creates_or_pays ? random_key() : ""});
}

Result<std::string> Client::put(const std::string& path, const std::string& json) {
  return request(Call{.method = "PUT", .path = path, .body = &json});
}

Result<std::string> Client::patch(const std::string& path, const std::string& json) {
  return request(Call{.method = "PATCH", .path = path, .body = &json});
}

Result<std::string> Client::remove(const std::string& path) {
  return request(Call{.method = "DELETE", .path = path});
}

Client::StreamEnd Client::stream(const std::string& path, const Query& query,
                                 const std::string& last_id,
                                 const std::function<Next(const StreamEvent&)>& on_event) {
  SseParser parser;
  StreamEnd end;
  const auto take = [&](std::string_view bytes) {
    const bool fits = parser.feed(bytes, [&](const StreamEvent& event) {
      if (!end.stopped && on_event(event) == Next::stop) end.stopped = true;
    });
    return fits && !end.stopped && !InterruptWatch::seen();
  };
  const Answer answer = perform(Call{.method = "GET",
                                     .path = path + query_text(query),
                                     .last_id = last_id,
                                     .is_stream = true,
                                     .take = take});
  end.last_id = parser.last_id().empty() ? last_id : parser.last_id();
  end.stopped = end.stopped || InterruptWatch::seen();
  if (answer.status != 0 && answer.status != 200) {
    end.refused = answer.status < 500;
    end.error = problem_error(answer.status, answer.body);
  } else if (answer.code != CURLE_OK && !end.stopped) {
    end.error = unreachable(answer);
  }
  return end;
}

}  // namespace cardhour::cli
