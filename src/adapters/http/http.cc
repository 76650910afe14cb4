#include "adapters/http/http.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/limits.h"

namespace cardhour::http {
namespace {

constexpr std::array<std::pair<Method, std::string_view>, 7> kMethods{{
    {Method::get, "GET"},
    {Method::head, "HEAD"},
    {Method::post, "POST"},
    {Method::put, "PUT"},
    {Method::patch, "PATCH"},
    {Method::delete_, "DELETE"},
    {Method::options, "OPTIONS"},
}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

// RFC 3629: shortest form, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t k) {
      return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u;
    };
    const unsigned lead = byte(0);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (length > 1 && (lead < 0xc2 || lead > 0xf4)) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((byte(k) & 0xc0) != 0x80) return false;
    }
    if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) ||
        (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) {
      return false;
    }
    i += length;
  }
  return true;
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

tl::unexpected<Error> bad_target(Text why) {
  return fail(ErrorCode::invalid_argument, std::move(why));
}

enum class Part { path, query };

Result<std::string> decoded(std::string_view text, Part part) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return bad_target({"a percent escape in the URL is malformed", "URL 中的百分号转义有误"});
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
      if (part == Part::path && (c == '/' || c == '\\')) {
        return bad_target({"an escaped slash in the path", "路径中含有转义的斜杠"});
      }
    } else if (part == Part::query && c == '+') {
      c = ' ';
    }
    out.push_back(c);
  }
  if (has_control(out)) {
    return bad_target({"control characters in the URL", "URL 中含有控制字符"});
  }
  if (!is_utf8(out)) return bad_target({"the URL is not UTF-8", "URL 不是 UTF-8 编码"});
  return out;
}

Status check_segments(std::string_view path) {
  size_t begin = 1;
  while (begin < path.size()) {
    size_t end = path.find('/', begin);
    if (end == std::string_view::npos) end = path.size();
    const std::string_view segment = path.substr(begin, end - begin);
    if (segment.empty() || segment == "." || segment == "..") {
      return bad_target({"empty, \".\" and \"..\" segments are not allowed in a path",
                         "路径中不允许空段、“.”和“..”"});
    }
    begin = end + 1;
  }
  return {};
}

Status add_query(std::string_view text, std::map<std::string, std::string>& query) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    TRY_ASSIGN(std::string name, decoded(pair.substr(0, equals), Part::query));
    TRY_ASSIGN(std::string value,
               decoded(pair.substr(std::min(equals + 1, pair.size())), Part::query));
    const std::string field = name;
    if (!query.emplace(std::move(name), std::move(value)).second) {
      return invalid(field, {"given more than once in the query", "在查询参数中出现多次"});
    }
  }
  return {};
}

// The q of "zh-CN;q=0.8", in thousandths.
int weight_of(std::string_view item) {
  const size_t q = item.find("q=");
  if (q == std::string_view::npos) return 1000;
  const std::string_view digits = item.substr(q + 2);
  if (digits.empty() || digits[0] == '1') return 1000;
  int weight = 0;
  int unit = 100;
  for (size_t i = 2; i < digits.size() && unit > 0; ++i, unit /= 10) {
    if (digits[i] < '0' || digits[i] > '9') break;
    weight += (digits[i] - '0') * unit;
  }
  return weight;
}

}  // namespace

std::string_view method_text(Method method) {
  for (const auto& [candidate, text] : kMethods) {
    if (candidate == method) return text;
  }
  CHECK(false, "a method outside the table");
}

std::optional<Method> method_from(std::string_view text) {
  for (const auto& [method, candidate] : kMethods) {
    if (candidate == text) return method;
  }
  return std::nullopt;
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& [candidate, value] : fields) {
    if (same_name(candidate, name)) return value;
  }
  return std::nullopt;
}

size_t Headers::count(std::string_view name) const {
  return static_cast<size_t>(std::count_if(fields.begin(), fields.end(), [&](const auto& field) {
    return same_name(field.first, name);
  }));
}

void Headers::set(std::string_view name, std::string value) {
  std::erase_if(fields, [&](const auto& field) { return same_name(field.first, name); });
  add(name, std::move(value));
}

void Headers::add(std::string_view name, std::string value) {
  fields.emplace_back(std::string(name), std::move(value));
}

const std::string& Request::param(const std::string& name) const {
  const auto found = params.find(name);
  CHECK(found != params.end(), "the endpoint's path has no parameter " + name);
  return found->second;
}

std::optional<std::string> Request::query_value(const std::string& name) const {
  const auto found = query.find(name);
  if (found == query.end()) return std::nullopt;
  return found->second;
}

Response json_response(int status, std::string json) {
  Response response;
  response.status = status;
  response.headers.set("Content-Type", "application/json");
  response.body = std::move(json);
  return response;
}

Response text_response(int status, std::string text) {
  Response response;
  response.status = status;
  response.headers.set("Content-Type", "text/plain; charset=utf-8");
  response.body = std::move(text);
  return response;
}

Response no_content() {
  Response response;
  response.status = 204;
  return response;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

std::vector<std::string_view> list_words(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    std::string_view item = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    const std::string_view word = item.substr(0, item.find_first_of("; "));
    const size_t q = item.find("q=0");
    const bool never = q != std::string_view::npos &&
                       item.find_first_not_of("0.", q + 2) == std::string_view::npos;
    if (!word.empty() && !never) words.push_back(word);
  }
  return words;
}

Result<Target> parse_target(std::string_view target) {
  if (target.empty() || target[0] != '/') {
    return bad_target(
        {"the request target must be a path that begins with /", "请求目标必须是以 / 开头的路径"});
  }
  if (target.find('#') != std::string_view::npos) {
    return bad_target({"a fragment in the request target", "请求目标中含有片段（#）"});
  }
  const size_t question = std::min(target.find('?'), target.size());
  Target out;
  TRY_ASSIGN(out.path, decoded(target.substr(0, question), Part::path));
  TRY(check_segments(out.path));
  if (question < target.size()) TRY(add_query(target.substr(question + 1), out.query));
  return out;
}

Language language_of(std::string_view accept_language) {
  int english = 0;
  int chinese = 0;
  while (!accept_language.empty()) {
    const size_t end = std::min(accept_language.find(','), accept_language.size());
    std::string_view item = accept_language.substr(0, end);
    accept_language.remove_prefix(std::min(end + 1, accept_language.size()));
    while (!item.empty() && item[0] == ' ') item.remove_prefix(1);
    const int weight = weight_of(item);
    const std::string_view tag = item.substr(0, 2);
    if (same_name(tag, "zh")) chinese = std::max(chinese, weight);
    if (same_name(tag, "en")) english = std::max(english, weight);
    // Equal weights: the one named first wins.
    if (same_name(tag, "zh") && chinese == english && weight > 0) --chinese;
    if (same_name(tag, "en") && chinese == english && weight > 0) --english;
  }
  return chinese > english ? Language::zh : Language::en;
}

Result<int> page_limit(const Request& request) {
  const auto text = request.query_value("limit");
  if (!text) return limits::kPageDefault;
  const bool digits = !text->empty() && text->size() <= 6 &&
                      text->find_first_not_of("0123456789") == std::string::npos;
  const int limit = digits ? std::stoi(*text) : 0;
  if (limit < 1 || limit > limits::kPageMax) {
    return invalid("limit", cardhour::text("must be a whole number from 1 to {}",
                                           "应为 1 到 {} 之间的整数", limits::kPageMax));
  }
  return limit;
}

Result<Duration> wait_asked(const Request& request) {
  const auto text = request.query_value("wait");
  if (!text) return Duration{};
  auto wait = parse_duration(*text);
  if (!wait) return invalid("wait", wait.error().what, wait.error().next);
  return std::min(*wait, seconds(limits::kWaitSecondsMax));
}

}  // namespace cardhour::http
