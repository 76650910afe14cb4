// One definition per wire type: a struct described with BOOST_DESCRIBE_STRUCT is written,
// read and documented by what is here, and nowhere else.
//
// Members may be: bool, integers, double, std::string, described enums (the enumerator's
// name), Money, Timestamp (RFC 3339), Duration (whole milliseconds; name it `..._ms`),
// Id<Tag>, Secret, Text, std::optional, std::vector, std::map<std::string, T>,
// boost::json::value (anything), and other described structs. A trailing "_" of a
// member's name is dropped on the wire (`public_` is "public").
//
// - A Money member `price` is written as "price": "1.980000" and "price_micro": 1980000,
//   and read from either (both only if they agree). In lists and maps it is the string.
// - An empty optional is left out; null reads as empty. Everything else is written always.
// - Required when read: every member but bool, std::optional, std::vector and std::map
//   (those keep the default of the struct). A struct that says
//   `static constexpr bool kAllOptional = true;` requires nothing.
// - Reading is strict: unknown fields, wrong types, integers with a fraction or out of
//   range, malformed ids and times, invalid UTF-8, and control characters other than
//   \n and \t are refused with the path of the field. Clients of ours read the server's
//   answers with UnknownFields::ignore, so that an older CLI reads a newer server.
//
// Include this only in .cc files: it pulls Boost.JSON in. Thread-safe: pure functions.
#pragma once

#include <boost/core/demangle.hpp>
#include <boost/describe/class.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/describe/members.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/mp11/algorithm.hpp>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "base/enum_text.h"
#include "base/error.h"
#include "base/id.h"
#include "base/limits.h"
#include "base/money.h"
#include "base/secret.h"
#include "base/time.h"

namespace cardhour {

BOOST_DESCRIBE_STRUCT(Text, (), (en, zh))

enum class UnknownFields { refuse, ignore };

struct JsonReadOptions {
  UnknownFields unknown_fields = UnknownFields::refuse;
  size_t bytes_max = limits::kBodyBytes;
};

// components/schemas of an OpenAPI document, filled by schema_of.
struct SchemaComponents {
  boost::json::object schemas;
  std::map<std::string, std::string> origin;  // name -> C++ type, so that no two share one
};

// The value as JSON text. Doubles are written shortest (1.98), and read back to within a
// unit in the last place (Boost.JSON 1.81); one that is not finite is null. compact: one line.
// indented: two spaces, with a final newline.
enum class JsonLayout { compact, indented };
std::string json_text(const boost::json::value& value, JsonLayout layout = JsonLayout::compact);

// Reads text as JSON: bounded in size and depth, no comments, valid UTF-8.
Result<boost::json::value> parse_json(std::string_view text, const JsonReadOptions& options = {});

namespace json_detail {

// Where a value stands, for error messages: "disks[0].size_bytes". Lives on the stack.
struct Path {
  const Path* parent = nullptr;
  std::string_view name = {};
  size_t index = 0;

  std::string text() const;
};

struct Reading {
  const JsonReadOptions& options;
};

// Marks where Money and Secret may stand.
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {
  using Inner = T;
};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {
  using Inner = T;
};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {
  using Inner = T;
};
template <class T>
struct IsId : std::false_type {};
template <class Tag>
struct IsId<Id<Tag>> : std::true_type {};

template <class T>
struct Unwrapped {
  using Type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using Type = T;
};
template <class T>
inline constexpr bool kIsMoney = std::is_same_v<typename Unwrapped<T>::Type, Money>;

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

template <class T>
concept DescribedEnum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

template <class T>
concept DescribedStruct = std::is_class_v<T> && boost::describe::has_describe_members<T>::value;

template <class T>
concept AllOptional = requires {
  requires T::kAllOptional;
};

template <class T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public |
                                                         boost::describe::mod_inherited>;

template <class T>
inline constexpr bool kMayBeAbsent =
    std::same_as<T, bool> || IsOptional<T>::value || IsVector<T>::value || IsMap<T>::value;

constexpr std::string_view wire_name(std::string_view member) {
  return member.ends_with('_') ? member.substr(0, member.size() - 1) : member;
}

// Errors; each names the field by its path.
Error wrong_type(const Path& path, Text expected, const boost::json::value& got);
Error out_of_range(const Path& path, int64_t lowest, uint64_t highest);
Error missing(const Path& path, std::string_view name);
Error unknown(const Path& path, std::string_view name, const std::vector<std::string>& known);
Error not_one_of(const Path& path, std::string_view got, const std::vector<std::string>& known);
Error disagree(const Path& path, std::string_view name);
Error at(const Path& path, Error inner);

Status read_bool(const boost::json::value& from, const Path& path, bool& to);
Status read_signed(const boost::json::value& from, const Path& path, int64_t lowest,
                   uint64_t highest, int64_t& to);
Status read_unsigned(const boost::json::value& from, const Path& path, uint64_t highest,
                     uint64_t& to);
Status read_double(const boost::json::value& from, const Path& path, double& to);
Status read_string(const boost::json::value& from, const Path& path, std::string& to);
Status read_id(const boost::json::value& from, const Path& path, char prefix, std::string& to);
Status read_money(const boost::json::value& from, const Path& path, Money& to);
Status read_money_micro(const boost::json::value& from, const Path& path, Money& to);
Status read_time(const boost::json::value& from, const Path& path, Timestamp& to);
Result<const boost::json::object*> read_object(const boost::json::value& from, const Path& path);
Result<const boost::json::array*> read_array(const boost::json::value& from, const Path& path);

template <class Tag>
constexpr char id_prefix() {
  if constexpr (requires { Tag::kPrefix; }) {
    return Tag::kPrefix;
  } else {
    return '\0';  // the driver's own ids
  }
}

template <class Tag>
Status read_id_as(const boost::json::value& from, const Path& path, Id<Tag>& to) {
  return read_id(from, path, id_prefix<Tag>(), to.text);
}

// ---- writing ----

template <class T>
boost::json::value write(const T& from);

template <class T>
void write_member(boost::json::object& to, std::string_view name, const T& from) {
  if constexpr (IsOptional<T>::value) {
    if (from) write_member(to, name, *from);
  } else if constexpr (std::same_as<T, Money>) {
    to[name] = to_decimal(from);
    to[std::string(name) + "_micro"] = from.micro;
  } else if constexpr (std::same_as<T, Secret>) {
    to[name] = from.reveal();
  } else {
    to[name] = write(from);
  }
}

template <class T>
boost::json::value write(const T& from) {
  if constexpr (std::same_as<T, boost::json::value>) {
    return from;
  } else if constexpr (std::same_as<T, bool> || std::same_as<T, double> ||
                       std::same_as<T, std::string>) {
    return boost::json::value(from);
  } else if constexpr (Integer<T> && std::is_signed_v<T>) {
    return boost::json::value(static_cast<int64_t>(from));
  } else if constexpr (Integer<T>) {
    return boost::json::value(static_cast<uint64_t>(from));
  } else if constexpr (DescribedEnum<T>) {
    const std::string_view name = enum_text(from);
    return boost::json::value(boost::json::string_view(name.data(), name.size()));
  } else if constexpr (std::same_as<T, Money>) {
    return boost::json::value(to_decimal(from));
  } else if constexpr (std::same_as<T, Timestamp>) {
    return boost::json::value(to_rfc3339(from));
  } else if constexpr (std::same_as<T, Duration>) {
    return boost::json::value(from.ms);
  } else if constexpr (IsId<T>::value) {
    return boost::json::value(from.text);
  } else if constexpr (IsOptional<T>::value) {
    return from ? write(*from) : boost::json::value(nullptr);
  } else if constexpr (IsVector<T>::value) {
    boost::json::array array;
    array.reserve(from.size());
    for (const auto& item : from) array.push_back(write<typename IsVector<T>::Inner>(item));
    return array;
  } else if constexpr (IsMap<T>::value) {
    boost::json::object object;
    for (const auto& [name, item] : from) object[name] = write(item);
    return object;
  } else {
    static_assert(DescribedStruct<T>,
                  "not a wire type (json_codec.h); a Secret is written only as a struct member");
    boost::json::object object;
    boost::mp11::mp_for_each<Members<T>>(
        [&](auto member) { write_member(object, wire_name(member.name), from.*member.pointer); });
    return object;
  }
}

// ---- writing as text: what the tree of write() becomes on one line, without the tree ----

// In quotes, escaped.
void append_string(std::string& to, std::string_view text);
void append_integer(std::string& to, int64_t value);
void append_integer(std::string& to, uint64_t value);
void append_double(std::string& to, double value);

template <class T>
void append(std::string& to, const T& from);

inline void append_name(std::string& to, std::string_view name, std::string_view suffix = {}) {
  if (to.back() != '{') to += ',';
  to += '"';
  to += name;
  to += suffix;
  to += "\":";
}

template <class T>
void append_member(std::string& to, std::string_view name, const T& from) {
  if constexpr (IsOptional<T>::value) {
    if (from) append_member(to, name, *from);
  } else {
    append_name(to, name);
    if constexpr (std::same_as<T, Secret>) {
      append_string(to, from.reveal());
    } else {
      append(to, from);
    }
    if constexpr (std::same_as<T, Money>) {
      append_name(to, name, "_micro");
      append_integer(to, from.micro);
    }
  }
}

template <class T>
void append(std::string& to, const T& from) {
  if constexpr (std::same_as<T, boost::json::value>) {
    to += json_text(from);
  } else if constexpr (std::same_as<T, bool>) {
    to += from ? "true" : "false";
  } else if constexpr (std::same_as<T, double>) {
    append_double(to, from);
  } else if constexpr (std::same_as<T, std::string>) {
    append_string(to, from);
  } else if constexpr (Integer<T> && std::is_signed_v<T>) {
    append_integer(to, static_cast<int64_t>(from));
  } else if constexpr (Integer<T>) {
    append_integer(to, static_cast<uint64_t>(from));
  } else if constexpr (DescribedEnum<T>) {
    append_string(to, enum_text(from));
  } else if constexpr (std::same_as<T, Money>) {
    append_string(to, to_decimal(from));
  } else if constexpr (std::same_as<T, Timestamp>) {
    append_string(to, to_rfc3339(from));
  } else if constexpr (std::same_as<T, Duration>) {
    append_integer(to, from.ms);
  } else if constexpr (IsId<T>::value) {
    append_string(to, from.text);
  } else if constexpr (IsOptional<T>::value) {
    if (from) {
      append(to, *from);
    } else {
      to += "null";
    }
  } else if constexpr (IsVector<T>::value) {
    to += '[';
    for (const auto& item : from) {
      if (to.back() != '[') to += ',';
      append<typename IsVector<T>::Inner>(to, item);
    }
    to += ']';
  } else if constexpr (IsMap<T>::value) {
    to += '{';
    for (const auto& [name, item] : from) {
      if (to.back() != '{') to += ',';
      append_string(to, name);
      to += ':';
      append(to, item);
    }
    to += '}';
  } else {
    static_assert(DescribedStruct<T>,
                  "not a wire type (json_codec.h); a Secret is written only as a struct member");
    to += '{';
    boost::mp11::mp_for_each<Members<T>>(
        [&](auto member) { append_member(to, wire_name(member.name), from.*member.pointer); });
    to += '}';
  }
}

// ---- reading ----

template <class T>
Status read(const boost::json::value& from, const Path& path, const Reading& reading, T& to);

template <class T>
void known_names(std::vector<std::string>& names) {
  boost::mp11::mp_for_each<Members<T>>([&](auto member) {
    using Member = std::remove_cvref_t<decltype(std::declval<T&>().*member.pointer)>;
    names.emplace_back(wire_name(member.name));
    if constexpr (kIsMoney<Member>) names.push_back(names.back() + "_micro");
  });
}

// A Money member: "price" as decimal text, "price_micro" as an integer, or both alike.
template <class T>
Status read_money_member(const boost::json::object& object, std::string_view name, const Path& path,
                         bool required, T& to) {
  const std::string micro_name = std::string(name) + "_micro";
  const boost::json::value* text = object.if_contains(name);
  const boost::json::value* micro = object.if_contains(micro_name);
  if (IsOptional<T>::value && text != nullptr && text->is_null()) text = nullptr;
  if (IsOptional<T>::value && micro != nullptr && micro->is_null()) micro = nullptr;
  if (text == nullptr && micro == nullptr) {
    if (required) return fail(missing(path, name));
    return {};
  }
  Money from_text;
  Money from_micro;
  if (text != nullptr) TRY(read_money(*text, Path{&path, name}, from_text));
  if (micro != nullptr) TRY(read_money_micro(*micro, Path{&path, micro_name}, from_micro));
  if (text != nullptr && micro != nullptr && from_text != from_micro) {
    return fail(disagree(path, name));
  }
  to = text != nullptr ? from_text : from_micro;
  return {};
}

template <class T>
Status read_member(const boost::json::object& object, std::string_view name, const Path& path,
                   const Reading& reading, bool all_optional, T& to) {
  const bool required = !all_optional && !kMayBeAbsent<T>;
  if constexpr (kIsMoney<T>) {
    return read_money_member(object, name, path, required, to);
  } else {
    const boost::json::value* value = object.if_contains(name);
    if (value == nullptr) {
      if (required) return fail(missing(path, name));
      return {};
    }
    return read(*value, Path{&path, name}, reading, to);
  }
}

template <class T>
Status read_struct(const boost::json::object& object, const Path& path, const Reading& reading,
                   T& to) {
  if (reading.options.unknown_fields == UnknownFields::refuse) {
    std::vector<std::string> names;
    known_names<T>(names);
    for (const auto& field : object) {
      const std::string_view key(field.key().data(), field.key().size());
      bool known = false;
      for (const std::string& name : names) known = known || name == key;
      if (!known) return fail(unknown(path, key, names));
    }
  }
  Status status;
  boost::mp11::mp_for_each<Members<T>>([&](auto member) {
    if (!status) return;
    status = read_member(object, wire_name(member.name), path, reading, AllOptional<T>,
                         to.*member.pointer);
  });
  return status;
}

template <class T>
Status read(const boost::json::value& from, const Path& path, const Reading& reading, T& to) {
  if constexpr (std::same_as<T, boost::json::value>) {
    to = from;
    return {};
  } else if constexpr (std::same_as<T, bool>) {
    return read_bool(from, path, to);
  } else if constexpr (Integer<T> && std::is_signed_v<T>) {
    int64_t wide = 0;
    TRY(read_signed(from, path, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                    wide));
    to = static_cast<T>(wide);
    return {};
  } else if constexpr (Integer<T>) {
    uint64_t wide = 0;
    TRY(read_unsigned(from, path, std::numeric_limits<T>::max(), wide));
    to = static_cast<T>(wide);
    return {};
  } else if constexpr (std::same_as<T, double>) {
    return read_double(from, path, to);
  } else if constexpr (std::same_as<T, std::string>) {
    return read_string(from, path, to);
  } else if constexpr (std::same_as<T, Secret>) {
    std::string text;
    TRY(read_string(from, path, text));
    to = Secret(std::move(text));
    return {};
  } else if constexpr (DescribedEnum<T>) {
    std::string text;
    TRY(read_string(from, path, text));
    if (const auto value = enum_from<T>(text)) {
      to = *value;
      return {};
    }
    std::vector<std::string> names;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
        [&](auto enumerator) { names.emplace_back(enumerator.name); });
    return fail(not_one_of(path, text, names));
  } else if constexpr (std::same_as<T, Money>) {
    return read_money(from, path, to);
  } else if constexpr (std::same_as<T, Timestamp>) {
    return read_time(from, path, to);
  } else if constexpr (std::same_as<T, Duration>) {
    return read_signed(from, path, std::numeric_limits<int64_t>::min(),
                       std::numeric_limits<int64_t>::max(), to.ms);
  } else if constexpr (IsId<T>::value) {
    return read_id_as(from, path, to);
  } else if constexpr (IsOptional<T>::value) {
    if (from.is_null()) {
      to.reset();
      return {};
    }
    return read(from, path, reading, to.emplace());
  } else if constexpr (IsVector<T>::value) {
    TRY_ASSIGN(const boost::json::array* array, read_array(from, path));
    to.clear();
    for (size_t i = 0; i < array->size(); ++i) {
      typename IsVector<T>::Inner item{};
      TRY(read((*array)[i], Path{&path, {}, i}, reading, item));
      to.push_back(std::move(item));
    }
    return {};
  } else if constexpr (IsMap<T>::value) {
    TRY_ASSIGN(const boost::json::object* object, read_object(from, path));
    to.clear();
    for (const auto& field : *object) {
      std::string name;
      TRY(read_string(boost::json::value(field.key()), path, name));
      TRY(read(field.value(), Path{&path, name}, reading, to[name]));
    }
    return {};
  } else {
    static_assert(DescribedStruct<T>, "not a wire type (json_codec.h)");
    TRY_ASSIGN(const boost::json::object* object, read_object(from, path));
    return read_struct(*object, path, reading, to);
  }
}

// ---- schemas ----

enum class Direction { answer, body };

boost::json::value schema_of_type(std::string_view type, std::string_view format = {});
boost::json::value schema_of_integer(size_t bytes, bool with_sign);
boost::json::value schema_of_money();
boost::json::value schema_of_names(const std::vector<std::string>& names);
boost::json::value schema_reference(const std::string& name);
// "Shape" of "cardhour::http::Shape".
std::string unqualified(const std::string& demangled);
// True when the name is new and the caller has to fill it in.
bool claim_component(SchemaComponents& components, const std::string& name,
                     const std::string& origin);

}  // namespace json_detail

// The name of T in the OpenAPI document; specialise it where the C++ name does not fit.
template <class T>
std::string schema_name() {
  return json_detail::unqualified(boost::core::demangle(typeid(T).name()));
}

namespace json_detail {

template <class T>
std::string component_name(Direction direction) {
  std::string name = schema_name<T>();
  if (direction == Direction::body && DescribedStruct<T> && !name.ends_with("Request")) {
    name += "Input";
  }
  return name;
}

template <class T>
boost::json::value schema(SchemaComponents& components, Direction direction);

template <class T>
void schema_member(SchemaComponents& components, Direction direction, std::string_view name,
                   bool all_optional, boost::json::object& properties,
                   boost::json::array& required) {
  using Inner = typename Unwrapped<T>::Type;
  const boost::json::string_view key(name.data(), name.size());
  const bool answer = direction == Direction::answer;
  properties[key] = schema<Inner>(components, direction);
  if (answer ? !IsOptional<T>::value : !all_optional && !kMayBeAbsent<T> && !kIsMoney<T>) {
    required.emplace_back(key);
  }
  if constexpr (kIsMoney<T>) {
    const std::string micro = std::string(name) + "_micro";
    properties[micro] = schema_of_integer(8, true);
    if (answer && !IsOptional<T>::value) required.emplace_back(boost::json::string(micro));
  }
}

template <class T>
void schema_struct(SchemaComponents& components, Direction direction, const std::string& name) {
  boost::json::object properties;
  boost::json::array required;
  boost::mp11::mp_for_each<Members<T>>([&](auto member) {
    using Member = std::remove_cvref_t<decltype(std::declval<T&>().*member.pointer)>;
    schema_member<Member>(components, direction, wire_name(member.name), AllOptional<T>, properties,
                          required);
  });
  boost::json::object object;
  object["type"] = "object";
  object["properties"] = std::move(properties);
  if (!required.empty()) object["required"] = std::move(required);
  if (direction == Direction::body) object["additionalProperties"] = false;
  components.schemas[name] = std::move(object);
}

template <class T>
boost::json::value schema(SchemaComponents& components, Direction direction) {
  if constexpr (std::same_as<T, boost::json::value>) {
    return boost::json::object{};
  } else if constexpr (std::same_as<T, bool>) {
    return schema_of_type("boolean");
  } else if constexpr (Integer<T>) {
    return schema_of_integer(sizeof(T), std::is_signed_v<T>);
  } else if constexpr (std::same_as<T, double>) {
    return schema_of_type("number", "double");
  } else if constexpr (std::same_as<T, std::string> || IsId<T>::value) {
    return schema_of_type("string");
  } else if constexpr (std::same_as<T, Secret>) {
    return schema_of_type("string", "password");
  } else if constexpr (std::same_as<T, Money>) {
    return schema_of_money();
  } else if constexpr (std::same_as<T, Timestamp>) {
    return schema_of_type("string", "date-time");
  } else if constexpr (std::same_as<T, Duration>) {
    return schema_of_integer(8, true);
  } else if constexpr (IsOptional<T>::value) {
    return schema<typename IsOptional<T>::Inner>(components, direction);
  } else if constexpr (IsVector<T>::value) {
    boost::json::object object;
    object["type"] = "array";
    object["items"] = schema<typename IsVector<T>::Inner>(components, direction);
    return object;
  } else if constexpr (IsMap<T>::value) {
    boost::json::object object;
    object["type"] = "object";
    object["additionalProperties"] = schema<typename IsMap<T>::Inner>(components, direction);
    return object;
  } else if constexpr (DescribedEnum<T>) {
    const std::string name = component_name<T>(direction);
    if (claim_component(components, name, typeid(T).name())) {
      std::vector<std::string> names;
      boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
          [&](auto enumerator) { names.emplace_back(enumerator.name); });
      components.schemas[name] = schema_of_names(names);
    }
    return schema_reference(name);
  } else {
    static_assert(DescribedStruct<T>, "not a wire type (json_codec.h)");
    const std::string name = component_name<T>(direction);
    const std::string origin =
        std::string(typeid(T).name()) + (direction == Direction::body ? " body" : " answer");
    if (claim_component(components, name, origin)) schema_struct<T>(components, direction, name);
    return schema_reference(name);
  }
}

}  // namespace json_detail

template <class T>
boost::json::value to_json(const T& value) {
  return json_detail::write(value);
}

template <class T>
std::string to_json_text(const T& value, JsonLayout layout = JsonLayout::compact) {
  if (layout == JsonLayout::indented) return json_text(json_detail::write(value), layout);
  std::string text;
  json_detail::append(text, value);
  return text;
}

// T from a JSON value already parsed. `field` is where it stood, for error messages.
template <class T>
Result<T> from_json_value(const boost::json::value& value, const JsonReadOptions& options = {}) {
  T to{};
  TRY(json_detail::read(value, json_detail::Path{}, json_detail::Reading{options}, to));
  return to;
}

// T from JSON text. Every failure is ErrorCode::invalid_argument (or too_large) with the
// path of the field, what was expected and what came.
template <class T>
Result<T> from_json(std::string_view text, const JsonReadOptions& options = {}) {
  TRY_ASSIGN(const boost::json::value value, parse_json(text, options));
  return from_json_value<T>(value, options);
}

// The schema of T as it stands in answers: what is written always is required. Structs and
// enums go to the components, and a reference to them is returned.
template <class T>
boost::json::value schema_of(SchemaComponents& components) {
  return json_detail::schema<T>(components, json_detail::Direction::answer);
}

// The schema of T as a request body, by the rules of from_json. Structs are named
// "...Input" unless the type's name ends with "Request", so that both may exist.
template <class T>
boost::json::value request_schema_of(SchemaComponents& components) {
  return json_detail::schema<T>(components, json_detail::Direction::body);
}

}  // namespace cardhour
