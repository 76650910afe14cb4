#include "cli/help.h"

#include <algorithm>

#include "base/enum_text.h"
#include "cli/width.h"

namespace cardhour::cli {
namespace {

constexpr int kNameColumn = 22;

// "  name  what it does", the name padded to a column that all lines share.
std::string entry(const std::string& name, const std::string& help, int column = kNameColumn) {
  return "  " + padded(name, column, Align::left) + "  " + help + "\n";
}

std::string group_entries(const std::vector<Command>& commands, Group group, Language language) {
  std::string out;
  for (const Command& command : commands) {
    if (command.group == group) out += entry(command.path, command.summary.in(language));
  }
  return out.empty() ? "" : "\n" + group_title(group).in(language) + "\n" + out;
}

std::string option_name(const Option& option) {
  std::string out;
  for (const std::string& name : option_names(option)) out += (out.empty() ? "" : ", ") + name;
  return option.value.empty() ? out : out + " " + option.value;
}

std::string option_entries(const std::vector<Option>& options, Language language, int column) {
  std::string out;
  for (const Option& option : options) {
    out += entry(option_name(option), option.help.in(language), column);
  }
  return out;
}

std::string examples_text(const Command& command, Language language) {
  std::string out;
  for (const Example& example : command.examples) {
    out += "  " + example.line + "\n";
    const std::string& help = example.help.in(language);
    if (!help.empty()) out += "      " + help + "\n";
  }
  return out.empty() ? "" : Text{"\nExamples\n", "\n示例\n"}.in(language) + out;
}

const char* const kIntroEn =
    "Cardhour rents GPU cards by the second: a machine of your own with SSH, paid from a\n"
    "prepaid wallet, with disks that survive a stop.\n"
    "\n"
    "The usual way\n"
    "  cardhour login http://127.0.0.1:8080     log in (or: cardhour register URL)\n"
    "  cardhour offers --vram 24G               which card fits, what is free, what it costs\n"
    "  cardhour rent --gpu 4090 --name train    shows the price, asks, waits until it is ready\n"
    "  cardhour ssh train                       in; no question about host keys\n"
    "  cardhour stop train                      billing ends at once, the disks stay\n"
    "  cardhour bill --explain                  what it cost, recomputed line by line\n";
const char* const kIntroZh =
    "卡时按秒出租 GPU：一台属于您、可以 SSH 登录的机器，从预付余额扣费，关机不丢数据。\n"
    "\n"
    "常用流程\n"
    "  cardhour login http://127.0.0.1:8080     登录（或注册：cardhour register URL）\n"
    "  cardhour offers --vram 24G               哪张卡合适、有没有空闲、多少钱\n"
    "  cardhour rent --gpu 4090 --name train    先报价，确认后创建，等到就绪\n"
    "  cardhour ssh train                       登录，无需确认主机密钥\n"
    "  cardhour stop train                      立即停止计费，磁盘保留\n"
    "  cardhour bill --explain                  花了多少，逐条复算\n";

const char* const kOutroEn =
    "\n"
    "More about one: cardhour rent --help\n"
    "For scripts: --json and --yes; CARDHOUR_SERVER, CARDHOUR_TOKEN and CARDHOUR_PROFILE are\n"
    "read from the environment. Exit codes: 0 done, 1 failed, 2 usage, 3 not logged in or not\n"
    "allowed, 4 not found, 5 conflict, 6 no capacity, 7 not enough balance, 8 limit or quota,\n"
    "9 server unreachable.\n";
const char* const kOutroZh =
    "\n"
    "单个命令的说明：cardhour rent --help\n"
    "用于脚本：--json 和 --yes；环境变量 CARDHOUR_SERVER、CARDHOUR_TOKEN、CARDHOUR_PROFILE。\n"
    "退出码：0 成功，1 失败，2 用法错误，3 未登录或无权限，4 不存在，5 冲突，6 没有空闲资源，\n"
    "7 余额不足，8 达到上限或配额，9 无法连接服务器。\n";

}  // namespace

std::string usage_line(const Command& command) {
  std::string line = "cardhour " + command.path;
  if (!command.options.empty()) line += " [OPTIONS]";
  for (const Positional& positional : command.positionals) {
    switch (positional.need) {
      case Positional::Need::required:
        line += " " + positional.name;
        break;
      case Positional::Need::optional:
        line += " [" + positional.name + "]";
        break;
      case Positional::Need::rest:
        line += " [-- " + positional.name + " ...]";
        break;
    }
  }
  return line;
}

std::string root_help(const std::vector<Command>& commands, Language language) {
  std::string out = Text{kIntroEn, kIntroZh}.in(language);
  for (const Group group : {Group::start, Group::market, Group::instances, Group::money,
                            Group::account, Group::admin, Group::tool}) {
    out += group_entries(commands, group, language);
  }
  out += Text{"\nWith every command\n", "\n通用选项\n"}.in(language);
  out += option_entries(global_options(), language, kNameColumn);
  return out + Text{kOutroEn, kOutroZh}.in(language);
}

std::string group_help(const std::vector<Command>& commands, const std::string& words,
                       Language language) {
  std::string out = "cardhour " + words + Text{" ...: one of\n", " ...：可用的命令\n"}.in(language);
  for (const Command& command : commands) {
    if (!command.path.starts_with(words + " ")) continue;
    out += entry(command.path, command.summary.in(language));
  }
  return out;
}

std::string command_help(const Command& command, Language language) {
  std::string out = usage_line(command) + "\n\n  " + command.summary.in(language) + "\n";
  int column = kNameColumn;
  for (const Option& option : command.options) {
    column = std::max(column, display_width(option_name(option)));
  }
  if (!command.positionals.empty() || !command.options.empty()) out += "\n";
  for (const Positional& positional : command.positionals) {
    out += entry(positional.name, positional.help.in(language), column);
  }
  out += option_entries(command.options, language, column);
  out += examples_text(command, language);
  out += Text{"\nWith every command\n", "\n通用选项\n"}.in(language);
  return out + option_entries(global_options(), language, column);
}

}  // namespace cardhour::cli
