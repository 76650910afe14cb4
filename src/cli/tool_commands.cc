// help, version, completion.
#include "base/enum_text.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/context.h"
#include "cli/decode.h"
#include "cli/help.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "cli/width.h"
#include "wire/wire.h"

namespace cardhour::cli {
namespace {

Outcome help(Context& context, const Arguments& arguments) {
  std::string words;
  for (const std::string& word : arguments.all("COMMAND")) {
    words += (words.empty() ? "" : " ") + word;
  }
  const std::vector<Command>& commands = *context.commands;
  if (words.empty()) {
    print(root_help(commands, context.language));
    return kDone;
  }
  bool is_group = false;
  std::vector<std::string> known;
  for (const Command& command : commands) {
    if (command.path == words) {
      print(command_help(command, context.language));
      return kDone;
    }
    is_group = is_group || command.path.starts_with(words + " ");
    known.push_back(command.path);
  }
  if (is_group) {
    print(group_help(commands, words, context.language));
    return kDone;
  }
  const auto guess = nearest(words, known);
  return invalid(
      "COMMAND", text("there is no command \"{}\"", "没有命令“{}”", clean(words)),
      guess ? text("Did you mean: cardhour help {}", "是否想输入：cardhour help {}", *guess)
            : Text{"All of them: cardhour help", "全部命令：cardhour help"});
}

// Works without a server; with one, says its version too.
Outcome version(Context& context, const Arguments&) {
  const auto open = context.open_client();
  const auto answer = open ? (*open)->get("/version") : Result<std::string>(fail(open.error()));
  if (context.json) {
    context.put("{\"cli\":\"" + program_version() +
                "\",\"server\":" + (answer ? *answer : std::string("null")) + "}");
    return kDone;
  }
  context.put("cardhour " + program_version());
  if (!open) return kDone;
  if (!answer) return fail(answer.error());
  TRY_ASSIGN(const auto server, decode<wire::VersionView>(*answer));
  context.say(text("server {} ({})", "服务器 {}（{}）", clean(server.version), (*open)->server()));
  return kDone;
}

Outcome completion(Context& context, const Arguments& arguments) {
  const std::string shell = arguments.text("SHELL");
  const Shell chosen = shell == "zsh" ? Shell::zsh : shell == "fish" ? Shell::fish : Shell::bash;
  print(completion_script(*context.commands, chosen, context.language));
  return kDone;
}

}  // namespace

void add_tool_commands(std::vector<Command>& to) {
  to.push_back({.path = "help",
                .group = Group::tool,
                .summary = {"this help, or that of one command", "帮助，或单个命令的帮助"},
                .positionals = {{"COMMAND",
                                 {"e.g. admin price set", "如 admin price set"},
                                 Positional::Need::rest}},
                .run = help});
  to.push_back({.path = "version",
                .group = Group::tool,
                .summary = {"versions of this program and the server", "本程序与服务器的版本"},
                .run = version});
  to.push_back({.path = "completion",
                .group = Group::tool,
                .summary = {"completion script for your shell", "生成 shell 补全脚本"},
                .positionals = {{"SHELL",
                                 {"bash, zsh or fish", "bash、zsh 或 fish"},
                                 Positional::Need::required,
                                 {"bash", "zsh", "fish"}}},
                .examples = {{"source <(cardhour completion bash)", {"", ""}}},
                .run = completion});
}

}  // namespace cardhour::cli
