#include "cli/command.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/check.h"

namespace cardhour::cli {

const Text& group_title(Group group) {
  static const std::array<Text, 7> titles = {{
      {"Begin", "开始使用"},
      {"Look at what there is", "查看行情"},
      {"Instances", "实例"},
      {"Money", "费用"},
      {"Account", "账户"},
      {"For operators", "运营者"},
      {"Other", "其他"},
  }};
  return titles.at(static_cast<size_t>(group));
}

const std::vector<std::string>& Arguments::all(const std::string& name) const {
  static const std::vector<std::string> none;
  CHECK(known_.contains(name), "an argument that the command declares");
  const auto it = values_.find(name);
  return it == values_.end() ? none : it->second;
}

std::optional<std::string> Arguments::find(const std::string& name) const {
  const auto& values = all(name);
  if (values.empty()) return std::nullopt;
  return values.back();
}

Result<std::optional<int64_t>> Arguments::number(const std::string& name, int64_t lowest,
                                                 int64_t highest) const {
  const auto typed = find(name);
  if (!typed) return std::optional<int64_t>{};
  int64_t value = 0;
  const char* end = typed->data() + typed->size();
  const auto [at, error] = std::from_chars(typed->data(), end, value);
  if (error == std::errc{} && at == end && value >= lowest && value <= highest) {
    return std::optional<int64_t>{value};
  }
  return invalid(name, cardhour::text("{}: a whole number from {} to {} is needed, not \"{}\"",
                                      "{}：需要 {} 到 {} 之间的整数，而不是“{}”", name, lowest,
                                      highest, *typed));
}

std::vector<std::string> option_names(const Option& option) {
  std::vector<std::string> names;
  size_t begin = 0;
  while (begin <= option.names.size()) {
    const size_t end = std::min(option.names.find(',', begin), option.names.size());
    names.push_back(option.names.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::string option_key(const Option& option) {
  const auto names = option_names(option);
  const auto it = std::find_if(names.begin(), names.end(),
                               [](const std::string& name) { return name.starts_with("--"); });
  CHECK(it != names.end(), "every option has a long name");
  return *it;
}

std::vector<std::string> path_words(const std::string& path) {
  std::vector<std::string> words;
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find(' ', begin), path.size());
    words.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  add_account_commands(commands);
  add_market_commands(commands);
  add_estimate_commands(commands);
  add_rent_commands(commands);
  add_instance_commands(commands);
  add_lifecycle_commands(commands);
  add_ssh_commands(commands);
  add_event_commands(commands);
  add_money_commands(commands);
  add_key_commands(commands);
  add_admin_commands(commands);
  add_telemetry_commands(commands);
  add_care_commands(commands);
  add_recovery_commands(commands);
  add_tool_commands(commands);
  std::stable_sort(commands.begin(), commands.end(),
                   [](const Command& a, const Command& b) { return a.group < b.group; });
  return commands;
}

const std::vector<Option>& global_options() {
  static const std::vector<Option> options = {
      {"-h,--help", "", {"help, also for one command", "帮助，也可用于单个命令"}},
      {"--json", "", {"the API's JSON instead of text for people", "输出 API 的 JSON"}},
      {"-y,--yes", "", {"do not ask", "不再询问"}},
      {"--lang", "zh|en", {"language; else from LANG", "语言，默认取自 LANG"}, {"zh", "en"}},
      {"--server", "URL", {"another server than the profile's", "使用其他服务器"}},
      {"--profile", "NAME", {"another login than the current one", "使用其他已保存的登录"}},
  };
  return options;
}

}  // namespace cardhour::cli
