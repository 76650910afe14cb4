// Enums to text and back through Boost.Describe: the enumerator's name is the word that
// the database, the API and the CLI use. Thread-safe.
#pragma once

#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enum_to_string.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"

namespace cardhour {

template <class E>
std::string_view enum_text(E value) {
  const char* name = boost::describe::enum_to_string(value, nullptr);
  CHECK(name != nullptr, "an enum value outside its enumerators");
  return name;
}

template <class E>
std::optional<E> enum_from(std::string_view text) {
  E value{};
  if (boost::describe::enum_from_string(std::string(text).c_str(), value)) return value;
  return std::nullopt;
}

}  // namespace cardhour
