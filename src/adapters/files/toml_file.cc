#include "adapters/files/toml_file.h"

#include <filesystem>

namespace cardhour::toml_file {
namespace {

template <class T>
Result<T> value_of(const std::string& path, std::string_view key, const toml::node& value,
                   const Text& expected) {
  const auto found = value.value_exact<T>();
  if (found) return *found;
  return wrong(path, value, key, expected);
}

Text at_line(const std::string& path, toml::source_index line, const Text& what) {
  return {path + ", line " + std::to_string(line) + ": " + what.en,
          path + " 第 " + std::to_string(line) + " 行：" + what.zh};
}

}  // namespace

Result<toml::table> read(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return fail(ErrorCode::not_found, text("there is no file {}", "文件 {} 不存在", path));
  }
  try {
    toml::parse_result parsed = toml::parse_file(path);
    if (parsed) return std::move(parsed).table();
    const std::string detail(parsed.error().description());
    return fail(ErrorCode::invalid_argument,
                at_line(path, parsed.error().source().begin.line,
                        text("not valid TOML: {}", "不是有效的 TOML：{}", detail)));
  } catch (const AssertionFailed&) {
    return fail(ErrorCode::invalid_argument,
                text("{} is not valid TOML", "{} 不是有效的 TOML", path));
  }
}

tl::unexpected<Error> wrong(const std::string& path, const toml::node& node, std::string_view key,
                            const Text& what) {
  const std::string name(key);
  return invalid(name, at_line(path, node.source().begin.line,
                               Text{"\"" + name + "\" " + what.en, "“" + name + "”" + what.zh}));
}

tl::unexpected<Error> within(const std::string& path, const toml::node& node, std::string_view key,
                             const Error& error) {
  auto located = wrong(path, node, key, Text{"is " + error.what.en, "有误：" + error.what.zh});
  located.value().next = error.next;
  return located;
}

tl::unexpected<Error> unknown_key(const std::string& path, const toml::node& node,
                                  std::string_view key) {
  return wrong(path, node, key, Text{"is not known here", "不是这里可用的配置项"});
}

Status each(const toml::table& table,
            const std::function<Status(std::string_view key, const toml::node& value)>& reader) {
  for (const auto& [key, value] : table) TRY(reader(key.str(), value));
  return {};
}

Result<std::string> text_of(const std::string& path, std::string_view key,
                            const toml::node& value) {
  return value_of<std::string>(path, key, value,
                               Text{"must be text in quotes", "必须是带引号的文本"});
}
Result<int64_t> integer_of(const std::string& path, std::string_view key, const toml::node& value) {
  return value_of<int64_t>(path, key, value, Text{"must be a whole number", "必须是整数"});
}
Result<bool> bool_of(const std::string& path, std::string_view key, const toml::node& value) {
  return value_of<bool>(path, key, value, Text{"must be true or false", "必须是 true 或 false"});
}
Result<double> number_of(const std::string& path, std::string_view key, const toml::node& value) {
  if (const auto whole = value.value_exact<int64_t>()) return static_cast<double>(*whole);
  return value_of<double>(path, key, value, Text{"must be a number", "必须是数字"});
}
Result<const toml::table*> table_of(const std::string& path, std::string_view key,
                                    const toml::node& value) {
  if (const toml::table* table = value.as_table()) return table;
  return wrong(path, value, key, Text{"must be a section", "必须是一个小节"});
}

}  // namespace cardhour::toml_file
