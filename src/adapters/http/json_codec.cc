#include "adapters/http/json_codec.h"

#include <array>
#include <boost/json/parser.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace cardhour {
namespace {

namespace json = boost::json;

constexpr size_t kDepthMax = 32;
constexpr size_t kQuotedBytesMax = 64;

// Input of strangers inside our sentences: bounded, one line, ASCII controls replaced.
std::string quoted(std::string_view input) {
  std::string text;
  for (const char c : input.substr(0, kQuotedBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(byte < 0x20 || byte == 0x7f ? '?' : c);
  }
  if (input.size() > kQuotedBytesMax) {
    // Not in the middle of a UTF-8 sequence.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) {
      text.pop_back();
    }
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
    text += "...";
  }
  return text;
}

Text kind_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return {"null", "null"};
    case json::kind::bool_:
      return {"true or false", "布尔值"};
    case json::kind::int64:
    case json::kind::uint64:
      return {"a whole number", "整数"};
    case json::kind::double_:
      return {"a number that is not a whole one in range", "非整数或超出范围的数字"};
    case json::kind::string:
      return {"a string", "字符串"};
    case json::kind::array:
      return {"a list", "列表"};
    case json::kind::object:
      return {"an object", "对象"};
  }
  return {"nothing", "空"};
}

Error error_at(const json_detail::Path& path, const Text& what) {
  const std::string field = path.text();
  const std::string place = field.empty() ? "" : field + ": ";
  return Error{ErrorCode::invalid_argument, Text{place + what.en, place + what.zh}, {}, field};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Boost.JSON has checked that the text is UTF-8.
bool has_control_characters(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) return true;
  }
  return false;
}

void append(std::string& to, const json::value& value, JsonLayout layout, size_t depth);

void new_line(std::string& to, JsonLayout layout, size_t depth) {
  if (layout == JsonLayout::compact) return;
  to.push_back('\n');
  to.append(2 * depth, ' ');
}

void append_array(std::string& to, const json::array& array, JsonLayout layout, size_t depth) {
  to.push_back('[');
  for (size_t i = 0; i < array.size(); ++i) {
    if (i > 0) to.push_back(',');
    new_line(to, layout, depth + 1);
    append(to, array[i], layout, depth + 1);
  }
  if (!array.empty()) new_line(to, layout, depth);
  to.push_back(']');
}

void append_object(std::string& to, const json::object& object, JsonLayout layout, size_t depth) {
  to.push_back('{');
  bool first = true;
  for (const auto& field : object) {
    if (!first) to.push_back(',');
    first = false;
    new_line(to, layout, depth + 1);
    to += json::serialize(json::string_view(field.key()));
    to += layout == JsonLayout::compact ? ":" : ": ";
    append(to, field.value(), layout, depth + 1);
  }
  if (!object.empty()) new_line(to, layout, depth);
  to.push_back('}');
}

void append(std::string& to, const json::value& value, JsonLayout layout, size_t depth) {
  switch (value.kind()) {
    case json::kind::array:
      return append_array(to, value.get_array(), layout, depth);
    case json::kind::object:
      return append_object(to, value.get_object(), layout, depth);
    case json::kind::double_:
      // Boost.JSON would write 1.98E0.
      to += std::isfinite(value.get_double()) ? fmt::format("{}", value.get_double()) : "null";
      return;
    default:
      to += json::serialize(value);
  }
}

}  // namespace

namespace json_detail {

void append_string(std::string& to, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  to += '"';
  size_t plain = 0;  // where the stretch that needs no escape began
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    to += text.substr(plain, i - plain);
    plain = i + 1;
    to += '\\';
    switch (byte) {
      case '"':
      case '\\':
        to += text[i];
        break;
      case '\b':
        to += 'b';
        break;
      case '\f':
        to += 'f';
        break;
      case '\n':
        to += 'n';
        break;
      case '\r':
        to += 'r';
        break;
      case '\t':
        to += 't';
        break;
      default:
        to += "u00";
        to += kHex[byte >> 4];
        to += kHex[byte & 15];
    }
  }
  to += text.substr(plain);
  to += '"';
}

namespace {

template <class Int>
void append_digits(std::string& to, Int value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  to.append(digits.data(), end);
}

}  // namespace

void append_integer(std::string& to, int64_t value) { append_digits(to, value); }
void append_integer(std::string& to, uint64_t value) { append_digits(to, value); }
void append_double(std::string& to, double value) { to += json_text(json::value(value)); }

}  // namespace json_detail

std::string json_text(const json::value& value, JsonLayout layout) {
  std::string text;
  append(text, value, layout, 0);
  if (layout == JsonLayout::indented) text.push_back('\n');
  return text;
}

Result<json::value> parse_json(std::string_view text, const JsonReadOptions& options) {
  if (text.size() > options.bytes_max) {
    return fail(ErrorCode::too_large, cardhour::text("the JSON text is over {} bytes",
                                                     "JSON 文本超过 {} 字节", options.bytes_max));
  }
  json::parse_options strict;
  strict.max_depth = kDepthMax;
  json::parser parser({}, strict);
  json::error_code error;
  const size_t parsed = parser.write(text.data(), text.size(), error);
  if (error) {
    return fail(ErrorCode::invalid_argument,
                cardhour::text("not valid JSON near byte {}: {}",
                               "第 {} 字节附近不是合法的 JSON：{}", parsed, error.message()),
                {"Send a JSON object in UTF-8.", "请发送 UTF-8 编码的 JSON 对象。"});
  }
  return parser.release();
}

namespace json_detail {

std::string Path::text() const {
  if (parent == nullptr) return std::string(name);
  const std::string above = parent->text();
  if (name.data() == nullptr) return fmt::format("{}[{}]", above, index);
  return above.empty() ? quoted(name) : above + "." + quoted(name);
}

Error wrong_type(const Path& path, Text expected, const json::value& got) {
  const Text kind = kind_of(got);
  return error_at(path, Text{fmt::format("expected {}, got {}", expected.en, kind.en),
                             fmt::format("应为{}，收到{}", expected.zh, kind.zh)});
}

Error out_of_range(const Path& path, int64_t lowest, uint64_t highest) {
  return error_at(path, text("must be a whole number from {} to {}", "应为 {} 到 {} 之间的整数",
                             lowest, highest));
}

Error missing(const Path& path, std::string_view name) {
  const Path place{&path, name};
  return error_at(place, {"required, but missing", "必填，但缺失"});
}

Error unknown(const Path& path, std::string_view name, const std::vector<std::string>& known) {
  const Path place{&path, name};
  const std::string list = joined(known);
  return error_at(place, text("unknown field; known here: {}", "未知字段；此处可用：{}", list));
}

Error not_one_of(const Path& path, std::string_view got, const std::vector<std::string>& known) {
  const std::string list = joined(known);
  const std::string word = quoted(got);
  return error_at(path,
                  text("expected one of {}; got \"{}\"", "应为 {} 之一，收到“{}”", list, word));
}

Error disagree(const Path& path, std::string_view name) {
  const Path place{&path, name};
  const std::string word(name);
  return error_at(place, text("{} and {}_micro differ; send one of them",
                              "{} 与 {}_micro 不一致；只需发送其一", word, word));
}

Error at(const Path& path, Error inner) {
  Error error = error_at(path, inner.what);
  error.next = std::move(inner.next);
  return error;
}

Status read_bool(const json::value& from, const Path& path, bool& to) {
  if (!from.is_bool()) return fail(wrong_type(path, {"true or false", "布尔值"}, from));
  to = from.get_bool();
  return {};
}

Status read_signed(const json::value& from, const Path& path, int64_t lowest, uint64_t highest,
                   int64_t& to) {
  if (from.is_uint64()) return fail(out_of_range(path, lowest, highest));
  if (!from.is_int64()) return fail(wrong_type(path, {"a whole number", "整数"}, from));
  const int64_t value = from.get_int64();
  if (value < lowest || (value > 0 && static_cast<uint64_t>(value) > highest)) {
    return fail(out_of_range(path, lowest, highest));
  }
  to = value;
  return {};
}

Status read_unsigned(const json::value& from, const Path& path, uint64_t highest, uint64_t& to) {
  if (!from.is_uint64() && !from.is_int64()) {
    return fail(wrong_type(path, {"a whole number", "整数"}, from));
  }
  if (from.is_int64() && from.get_int64() < 0) return fail(out_of_range(path, 0, highest));
  const uint64_t value =
      from.is_uint64() ? from.get_uint64() : static_cast<uint64_t>(from.get_int64());
  if (value > highest) return fail(out_of_range(path, 0, highest));
  to = value;
  return {};
}

Status read_double(const json::value& from, const Path& path, double& to) {
  json::error_code error;
  const double value = from.to_number<double>(error);
  if (error) return fail(wrong_type(path, {"a number", "数字"}, from));
  if (!std::isfinite(value)) {
    return fail(error_at(path, {"the number is out of range", "数字超出范围"}));
  }
  to = value;
  return {};
}

Status read_string(const json::value& from, const Path& path, std::string& to) {
  if (!from.is_string()) return fail(wrong_type(path, {"a string", "字符串"}, from));
  const json::string& value = from.get_string();
  const std::string_view text(value.data(), value.size());
  if (has_control_characters(text)) {
    return fail(error_at(path, {"control characters are not allowed, except line feed and tab",
                                "除换行和制表符外，不允许控制字符"}));
  }
  to.assign(text);
  return {};
}

Status read_id(const json::value& from, const Path& path, char prefix, std::string& to) {
  TRY(read_string(from, path, to));
  if (prefix == '\0') {
    // The driver's ids: letters, digits and dashes.
    const bool fits = !to.empty() && to.size() <= 64 &&
                      to.find_first_not_of(
                          "0123456789abcdefghijklmnopqrstuvwxyz"
                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_:./") == std::string::npos;
    return fits ? Status{} : fail(error_at(path, {"not an id of a card", "不是有效的卡编号"}));
  }
  if (is_id_text(prefix, to)) return {};
  return fail(error_at(path, text("expected an id: \"{}\" and 12 characters",
                                  "应为编号：“{}”加 12 个字符", prefix)));
}

Status read_money(const json::value& from, const Path& path, Money& to) {
  std::string text;
  if (!from.is_string()) {
    return fail(wrong_type(
        path, {"an amount as a string, like \"1.98\"", "字符串形式的金额，如 \"1.98\""}, from));
  }
  TRY(read_string(from, path, text));
  auto money = parse_money(text);
  if (!money) return fail(at(path, std::move(money).error()));
  to = *money;
  return {};
}

Status read_money_micro(const json::value& from, const Path& path, Money& to) {
  return read_signed(from, path, std::numeric_limits<int64_t>::min(),
                     std::numeric_limits<int64_t>::max(), to.micro);
}

Status read_time(const json::value& from, const Path& path, Timestamp& to) {
  std::string text;
  TRY(read_string(from, path, text));
  auto time = parse_rfc3339(text);
  if (!time) return fail(at(path, std::move(time).error()));
  to = *time;
  return {};
}

Result<const json::object*> read_object(const json::value& from, const Path& path) {
  if (!from.is_object()) return fail(wrong_type(path, {"an object", "对象"}, from));
  return &from.get_object();
}

Result<const json::array*> read_array(const json::value& from, const Path& path) {
  if (!from.is_array()) return fail(wrong_type(path, {"a list", "列表"}, from));
  return &from.get_array();
}

json::value schema_of_type(std::string_view type, std::string_view format) {
  json::object schema;
  schema["type"] = json::string_view(type.data(), type.size());
  if (!format.empty()) schema["format"] = json::string_view(format.data(), format.size());
  return schema;
}

json::value schema_of_integer(size_t bytes, bool with_sign) {
  json::object schema;
  schema["type"] = "integer";
  if (with_sign && bytes <= 4) schema["format"] = "int32";
  if (with_sign && bytes > 4) schema["format"] = "int64";
  if (!with_sign) schema["minimum"] = 0;
  return schema;
}

json::value schema_of_money() {
  json::object schema;
  schema["type"] = "string";
  schema["pattern"] = "^-?[0-9]{1,12}(\\.[0-9]{1,6})?$";
  schema["description"] = "decimal units of the deployment's currency";
  return schema;
}

json::value schema_of_names(const std::vector<std::string>& names) {
  json::object schema;
  schema["type"] = "string";
  json::array list;
  for (const std::string& name : names) list.emplace_back(json::string(name));
  schema["enum"] = std::move(list);
  return schema;
}

json::value schema_reference(const std::string& name) {
  json::object schema;
  schema["$ref"] = "#/components/schemas/" + name;
  return schema;
}

std::string unqualified(const std::string& demangled) {
  const size_t colon = demangled.rfind("::");
  return colon == std::string::npos ? demangled : demangled.substr(colon + 2);
}

bool claim_component(SchemaComponents& components, const std::string& name,
                     const std::string& origin) {
  const auto [place, is_new] = components.origin.emplace(name, origin);
  CHECK(place->second == origin,
        fmt::format("two wire types share the name {}: {} and {}", name, place->second, origin));
  if (is_new) components.schemas[name] = json::object{};  // keeps the order, ends recursion
  return is_new;
}

}  // namespace json_detail
}  // namespace cardhour
