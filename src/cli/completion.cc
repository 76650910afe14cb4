#include "cli/completion.h"

#include <algorithm>
#include <map>

namespace cardhour::cli {
namespace {

void add_once(std::vector<std::string>& words, const std::string& word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// "'" cannot stand inside single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Shared by bash and zsh, which runs it in its bash emulation: the words before the cursor
// that are no options make the path, as far as it is one.
std::string bash_body(const std::vector<Command>& commands) {
  std::string out =
      "_cardhour() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" path='' word i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=\"${COMP_WORDS[i]}\"\n"
      "    [[ $word == -* ]] && continue\n"
      "    case \"$path $word\" in\n";
  std::string known;
  for (const Completions& each : completions_of(commands)) {
    if (!each.path.empty()) known += (known.empty() ? "" : "|") + quoted(" " + each.path);
  }
  // A path is kept with a space in front.
  out += "      " + known + ") path=\"$path $word\" ;;\n    esac\n  done\n  case \"$path\" in\n";
  for (const Completions& each : completions_of(commands)) {
    const std::string path = each.path.empty() ? "" : " " + each.path;
    out += "    " + quoted(path) + ") COMPREPLY=($(compgen -W " + quoted(joined(each.words)) +
           " -- \"$current\")) ;;\n";
  }
  return out + "  esac\n}\n";
}

std::string fish_script(const std::vector<Command>& commands, Language language) {
  std::string out =
      "function __cardhour_at\n"
      "  set -l words (commandline -opc | string match -v -- '-*')\n"
      "  test \"$words[2..-1]\" = \"$argv\"\n"
      "end\n"
      "function __cardhour_in\n"
      "  set -l words (commandline -opc | string match -v -- '-*')\n"
      "  string match -q -- \"$argv\" \"$words[2..-1]\"\n"
      "  or string match -q -- \"$argv *\" \"$words[2..-1]\"\n"
      "end\n"
      "complete -c cardhour -f\n";
  std::map<std::string, std::string> summaries;
  for (const Command& command : commands) summaries[command.path] = command.summary.in(language);
  for (const Completions& each : completions_of(commands)) {
    for (const std::string& word : each.words) {
      if (word.starts_with("-")) continue;
      const std::string path = each.path.empty() ? word : each.path + " " + word;
      out += "complete -c cardhour -n " + quoted("__cardhour_at " + each.path) + " -a " +
             quoted(word) + " -d " + quoted(summaries[path]) + "\n";
    }
  }
  const auto add = [&](const std::string& when, const Option& option) {
    out += "complete -c cardhour" + when;
    for (const std::string& name : option_names(option)) {
      out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!option.value.empty()) out += " -x";
    if (!option.choices.empty()) out += " -a " + quoted(joined(option.choices));
    out += " -d " + quoted(option.help.in(language)) + "\n";
  };
  for (const Option& option : global_options()) add("", option);
  for (const Command& command : commands) {
    for (const Option& option : command.options) {
      add(" -n " + quoted("__cardhour_in " + command.path), option);
    }
  }
  return out;
}

}  // namespace

std::vector<Completions> completions_of(const std::vector<Command>& commands) {
  std::vector<Completions> out = {{"", {}}};
  const auto at = [&](const std::string& path) -> Completions& {
    const auto it = std::find_if(out.begin(), out.end(),
                                 [&](const Completions& each) { return each.path == path; });
    return it != out.end() ? *it : out.emplace_back(Completions{path, {}});
  };
  for (const Command& command : commands) {
    std::string path;
    for (const std::string& word : path_words(command.path)) {
      add_once(at(path).words, word);
      path += (path.empty() ? "" : " ") + word;
    }
    Completions& last = at(path);
    for (const Positional& positional : command.positionals) {
      for (const std::string& choice : positional.choices) add_once(last.words, choice);
    }
    for (const Option& option : command.options) {
      for (const std::string& name : option_names(option)) add_once(last.words, name);
    }
    for (const Option& option : global_options()) add_once(last.words, option_key(option));
  }
  return out;
}

std::string completion_script(const std::vector<Command>& commands, Shell shell,
                              Language language) {
  switch (shell) {
    case Shell::bash:
      return "# cardhour completion bash; put: source <(cardhour completion bash) into "
             "~/.bashrc\n" +
             bash_body(commands) + "complete -o default -F _cardhour cardhour\n";
    case Shell::zsh:
      return "#compdef cardhour\n"
             "# cardhour completion zsh; put: source <(cardhour completion zsh) into ~/.zshrc\n"
             "autoload -Uz compinit bashcompinit\n"
             "(( $+functions[compdef] )) || compinit\n"
             "bashcompinit\n" +
             bash_body(commands) + "complete -o default -F _cardhour cardhour\n";
    case Shell::fish:
      return "# cardhour completion fish; put: cardhour completion fish | source into "
             "config.fish\n" +
             fish_script(commands, language);
  }
  return "";
}

}  // namespace cardhour::cli
