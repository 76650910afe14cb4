// From described structs (Boost.Describe) to rows and back: one column per member, named as
// the member. schema/README.md has the table of types. Also the SQL text of whole structs.
// Invariant: only integers of 64 bits and text reach the database. Used by the repositories
// of this room only. Thread-safe: plain functions.
#pragma once

#include <fmt/core.h>

#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/enum_text.h"
#include "base/id.h"
#include "base/money.h"
#include "base/time.h"

namespace cardhour::sql {

enum class ColumnType { integer, text };

// One value on its way into or out of a statement.
struct Cell {
  ColumnType type = ColumnType::integer;
  bool null = false;
  long long integer = 0;
  std::string text;
};

// A row that does not fit its struct: the database was changed by other hands.
struct RowError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsId = false;
template <class Tag>
inline constexpr bool kIsId<Id<Tag>> = true;

template <class T>
concept TextColumn = std::same_as<T, std::string> || kIsId<T> || std::is_enum_v<T>;
template <class T>
concept IntegerColumn = std::integral<T> || std::same_as<T, Money> || std::same_as<T, Timestamp> ||
    std::same_as<T, Duration>;
template <class T>
concept PlainColumn = TextColumn<T> || IntegerColumn<T>;
template <class T>
concept OptionalColumn = kIsOptional<T>;
template <class T>
concept Column = PlainColumn<T> || OptionalColumn<T>;

template <class T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public>;

// As a parameter: a struct without its first member, which is its key.
template <class T>
struct WithoutKey {
  using Struct = T;
  const T& value;
};
template <class T>
WithoutKey(const T&) -> WithoutKey<T>;
template <class T>
inline constexpr bool kIsWithoutKey = false;
template <class T>
inline constexpr bool kIsWithoutKey<WithoutKey<T>> = true;
template <class T>
using MembersButKey = boost::mp11::mp_pop_front<Members<T>>;

template <PlainColumn T>
void put(Cell& cell, const T& value) {
  cell.null = false;
  if constexpr (std::same_as<T, std::string>) {
    cell.text = value;
  } else if constexpr (kIsId<T>) {
    cell.text = value.text;
  } else if constexpr (std::is_enum_v<T>) {
    cell.text = enum_text(value);
  } else if constexpr (std::same_as<T, Money>) {
    cell.integer = value.micro;
  } else if constexpr (std::integral<T>) {
    cell.integer = value;
  } else {
    cell.integer = value.ms;
  }
}
template <class T>
void put(Cell& cell, const std::optional<T>& value) {
  if (value) {
    put(cell, *value);
  } else {
    cell.null = true;
  }
}

template <std::integral T>
T narrow(long long integer) {
  if constexpr (std::same_as<T, bool>) {
    return integer != 0;
  } else {
    if (integer < std::numeric_limits<T>::min() || integer > std::numeric_limits<T>::max()) {
      throw RowError(fmt::format("{} is out of range", integer));
    }
    return static_cast<T>(integer);
  }
}

template <PlainColumn T>
void take(const Cell& cell, T& value) {
  if (cell.null) throw RowError("NULL where a value must be");
  if constexpr (std::same_as<T, std::string>) {
    value = cell.text;
  } else if constexpr (kIsId<T>) {
    value.text = cell.text;
  } else if constexpr (std::is_enum_v<T>) {
    auto known = enum_from<T>(cell.text);
    if (!known) throw RowError(fmt::format("unknown word \"{}\"", cell.text));
    value = *known;
  } else if constexpr (std::same_as<T, Money>) {
    value.micro = cell.integer;
  } else if constexpr (std::integral<T>) {
    value = narrow<T>(cell.integer);
  } else {
    value.ms = cell.integer;
  }
}
template <class T>
void take(const Cell& cell, std::optional<T>& value) {
  if (cell.null) {
    value.reset();
  } else {
    take(cell, value.emplace());
  }
}

template <class T>
constexpr ColumnType column_type() {
  if constexpr (OptionalColumn<T>) {
    return column_type<typename T::value_type>();
  } else {
    return TextColumn<T> ? ColumnType::text : ColumnType::integer;
  }
}

// The types of a column, or of all columns of a struct.
template <class T>
void add_types(std::vector<ColumnType>& types) {
  if constexpr (Column<T>) {
    types.push_back(column_type<T>());
  } else if constexpr (kIsWithoutKey<T>) {
    add_types<typename T::Struct>(types);
    types.erase(types.end() - boost::mp11::mp_size<Members<typename T::Struct>>::value);
  } else {
    boost::mp11::mp_for_each<Members<T>>([&](auto member) {
      using Member = std::remove_cvref_t<decltype(std::declval<T>().*member.pointer)>;
      types.push_back(column_type<Member>());
    });
  }
}
template <class... T>
const std::vector<ColumnType>& types_of() {
  static const std::vector<ColumnType> all = [] {
    std::vector<ColumnType> types;
    (add_types<T>(types), ...);
    return types;
  }();
  return all;
}

// Writes a value, or all members of a struct, at `cell` and moves behind it.
template <class T>
void put_all(Cell*& cell, const T& value) {
  if constexpr (Column<T>) {
    put(*cell++, value);
  } else if constexpr (kIsWithoutKey<T>) {
    boost::mp11::mp_for_each<MembersButKey<typename T::Struct>>(
        [&](auto member) { put(*cell++, value.value.*member.pointer); });
  } else {
    boost::mp11::mp_for_each<Members<T>>([&](auto member) { put(*cell++, value.*member.pointer); });
  }
}
template <class T>
T take_all(const std::vector<Cell>& cells) {
  T value{};
  if constexpr (Column<T>) {
    take(cells.front(), value);
  } else {
    const Cell* cell = cells.data();
    boost::mp11::mp_for_each<Members<T>>([&](auto member) {
      try {
        take(*cell++, value.*member.pointer);
      } catch (const RowError& error) {
        throw RowError(fmt::format("column {}: {}", member.name, error.what()));
      }
    });
  }
  return value;
}

// SQL text. `pattern` is formatted for each member with its name, as {0}.
template <class List>
std::string each_member(std::string_view pattern) {
  std::string out;
  boost::mp11::mp_for_each<List>([&](auto member) {
    if (!out.empty()) out += ", ";
    const char* name = member.name;
    out += fmt::vformat(pattern, fmt::make_format_args(name));
  });
  return out;
}
template <class T>
std::string each_column(std::string_view pattern) {
  return each_member<Members<T>>(pattern);
}
// "insert into t (id, name) values (:id, :name)"; its parameter is the struct.
template <class T>
std::string insert_sql(std::string_view table) {
  return fmt::format("insert into {} ({}) values ({})", table, each_column<T>("{0}"),
                     each_column<T>(":{0}"));
}
// The same, and an existing row with the same `key` columns takes the new values.
template <class T>
std::string upsert_sql(std::string_view table, std::string_view key) {
  return fmt::format("{} on conflict ({}) do update set {}", insert_sql<T>(table), key,
                     each_column<T>("{0} = excluded.{0}"));
}
// "update t set name = :name where ..."; its first parameter is WithoutKey{struct}.
template <class T>
std::string update_sql(std::string_view table, std::string_view where) {
  return fmt::format("update {} set {} where {}", table,
                     each_member<MembersButKey<T>>("{0} = :{0}"), where);
}
// "select id, name from t ...".
template <class T>
std::string select_sql(std::string_view table, std::string_view rest) {
  return fmt::format("select {} from {} {}", each_column<T>("{0}"), table, rest);
}

}  // namespace cardhour::sql
