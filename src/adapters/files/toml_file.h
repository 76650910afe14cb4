// Reading TOML with errors that name the file and the line in both languages. The one place
// that includes toml++; its types stay inside this room. Pure but for reading the file.
#pragma once

namespace cardhour::toml_file {
struct AssertionFailed {};
constexpr void must_hold(bool expression) {
  if (!expression) throw AssertionFailed{};
}
}  // namespace cardhour::toml_file

// The parser asserts things that a file can break ("[" at the end of a line): that is an error of
// the file, which read() makes of it, and no end of the process.
#define TOML_ASSERT(expression) cardhour::toml_file::must_hold(static_cast<bool>(expression))
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace cardhour::toml_file {

// not_found when there is no such file; invalid_argument names the line of a syntax error.
Result<toml::table> read(const std::string& path);

// "FILE, line N: ..." as invalid_argument, with the key as the field.
tl::unexpected<Error> wrong(const std::string& path, const toml::node& node, std::string_view key,
                            const Text& what);

// Gives every key of the table to `reader`; its error ends the reading.
Status each(const toml::table& table,
            const std::function<Status(std::string_view key, const toml::node& value)>& reader);

// One value of a kind, or an error.
Result<std::string> text_of(const std::string& path, std::string_view key, const toml::node& value);
Result<int64_t> integer_of(const std::string& path, std::string_view key, const toml::node& value);
Result<double> number_of(const std::string& path, std::string_view key, const toml::node& value);
Result<bool> bool_of(const std::string& path, std::string_view key, const toml::node& value);
Result<const toml::table*> table_of(const std::string& path, std::string_view key,
                                    const toml::node& value);
// The error of a parser of ours (a size, an amount), with file and line put before it.
tl::unexpected<Error> within(const std::string& path, const toml::node& node, std::string_view key,
                             const Error& error);
tl::unexpected<Error> unknown_key(const std::string& path, const toml::node& node,
                                  std::string_view key);

}  // namespace cardhour::toml_file
