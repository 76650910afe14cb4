#include "cli/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/enum_text.h"
#include "cli/suggest.h"
#include "cli/width.h"

namespace cardhour::cli {
namespace {

// One command's place in CLI11's tree, and where CLI11 puts what was typed.
struct Slot {
  const Command* command = nullptr;
  CLI::App* app = nullptr;
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> switches;
};

struct Tree {
  CLI::App root{"", "cardhour"};
  std::vector<std::unique_ptr<Slot>> slots;
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> switches;
};

void add_option(CLI::App& app, const Option& option, Slot& to) {
  const std::string key = option_key(option);
  if (option.value.empty()) {
    app.add_flag(option.names, to.switches[key]);
  } else {
    app.add_option(option.names, to.values[key])
        ->expected(1)
        ->allow_extra_args(false)  // what follows its value is not its own
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

// The app of `words`, made where it is missing.
CLI::App* app_at(CLI::App& root, const std::vector<std::string>& words) {
  CLI::App* app = &root;
  for (const std::string& word : words) {
    const auto known =
        app->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
    CLI::App* next = known.empty() ? nullptr : known.front();
    if (next == nullptr) {
      next = app->add_subcommand(word);
      next->set_help_flag();
      next->fallthrough();
      next->allow_extras();
    }
    app->require_subcommand(0, 1);
    app = next;
  }
  return app;
}

void add_command(Tree& tree, const Command& command) {
  auto slot = std::make_unique<Slot>();
  slot->command = &command;
  slot->app = app_at(tree.root, path_words(command.path));
  for (const Positional& positional : command.positionals) slot->values[positional.name];
  for (const Option& option : command.options) add_option(*slot->app, option, *slot);
  tree.slots.push_back(std::move(slot));
}

void build(Tree& tree, const std::vector<Command>& commands, Slot& globals) {
  tree.root.set_help_flag();
  tree.root.allow_extras();
  for (const Option& option : global_options()) add_option(tree.root, option, globals);
  for (const Command& command : commands) add_command(tree, command);
}

tl::unexpected<Error> usage(Text what, const std::string& path) {
  const std::string name = path.empty() ? "cardhour" : "cardhour " + path;
  return fail(ErrorCode::invalid_argument, std::move(what),
              text("See: {} --help", "请看：{} --help", name));
}

// The deepest subcommand that was recognised.
const CLI::App* deepest(const CLI::App& root, std::string& path) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    path += (path.empty() ? "" : " ") + app->get_name();
  }
  return app;
}

std::string meant(const std::optional<std::string>& word, Language language) {
  if (!word) return "";
  return (language == Language::zh ? "，是否想输入 " : "; did you mean ") + *word +
         (language == Language::zh ? "？" : "?");
}

Text with_guess(Text what, const std::optional<std::string>& guess) {
  return {what.en + meant(guess, Language::en), what.zh + meant(guess, Language::zh)};
}

tl::unexpected<Error> unknown_command(const CLI::App& app, const std::string& path,
                                      const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) known.push_back(sub->get_name());
  const std::string prefix = path.empty() ? "" : path + " ";
  auto guess = nearest(word, known);
  if (guess) guess = "cardhour " + prefix + *guess;
  return usage(
      with_guess(text("there is no command \"{}\"", "没有命令“{}”", prefix + clean(word)), guess),
      path);
}

tl::unexpected<Error> unknown_option(const Command* command, const std::string& path,
                                     const std::string& word) {
  std::vector<std::string> known;
  const auto add = [&](const std::vector<Option>& options) {
    for (const Option& option : options) known.push_back(option_key(option));
  };
  if (command != nullptr) add(command->options);
  add(global_options());
  const std::string name = word.substr(0, word.find('='));
  return usage(
      with_guess(text("unknown option {}", "未知的选项 {}", clean(name)), nearest(name, known)),
      path);
}

Status check_choice(const std::string& name, const std::vector<std::string>& choices,
                    const std::string& value) {
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return {};
  }
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  return invalid(name,
                 with_guess(text("{} cannot be \"{}\"", "{} 不能是“{}”", name, clean(value)),
                            nearest(value, choices)),
                 text("One of: {}", "可选：{}", list));
}

Status check_values(const Slot& slot) {
  for (const Positional& positional : slot.command->positionals) {
    const auto& values = slot.values.at(positional.name);
    if (values.empty() && positional.need == Positional::Need::required) {
      return usage(Text{positional.name + " is missing: " + positional.help.en,
                        "缺少 " + positional.name + "：" + positional.help.zh},
                   slot.command->path);
    }
    for (const std::string& value : values) {
      TRY(check_choice(positional.name, positional.choices, value));
    }
  }
  for (const Option& option : slot.command->options) {
    if (option.value.empty()) continue;
    const std::string key = option_key(option);
    for (const std::string& value : slot.values.at(key)) {
      TRY(check_choice(key, option.choices, value));
    }
  }
  return {};
}

// The words that are no options, to the command's positionals in their order.
Status place(const std::vector<std::string>& words, Slot& slot) {
  auto next = words.begin();
  for (const Positional& positional : slot.command->positionals) {
    const bool takes_all = positional.need == Positional::Need::rest;
    const auto end = takes_all || next == words.end() ? words.end() : next + 1;
    slot.values[positional.name].assign(next, end);
    next = end;
  }
  if (next == words.end()) return {};
  return usage(text("one argument too many: {}", "多余的参数：{}", clean(*next)),
               slot.command->path);
}

Arguments arguments_of(const Slot& slot) {
  std::set<std::string> known;
  for (const auto& [name, values] : slot.values) known.insert(name);
  for (const auto& [name, set] : slot.switches) known.insert(name);
  auto values = slot.values;
  for (const auto& [name, set] : slot.switches) {
    if (set) values[name] = {"true"};
  }
  return Arguments(std::move(known), std::move(values));
}

Result<Globals> globals_of(const Slot& slot) {
  const auto last = [&](const std::string& key) -> std::optional<std::string> {
    const auto& values = slot.values.at(key);
    if (values.empty()) return std::nullopt;
    return values.back();
  };
  Globals globals;
  globals.help = slot.switches.at("--help");
  globals.json = slot.switches.at("--json");
  globals.yes = slot.switches.at("--yes");
  globals.server = last("--server");
  globals.profile = last("--profile");
  if (const auto language = last("--lang")) {
    TRY(check_choice("--lang", {"zh", "en"}, *language));
    globals.language = enum_from<Language>(*language);
  }
  return globals;
}

// What CLI11 itself refuses: an option without its value.
tl::unexpected<Error> refused(const Tree& tree, const CLI::ParseError& error) {
  std::string path;
  deepest(tree.root, path);
  const std::string what = error.what();
  const std::string option = clean(what.substr(0, what.find_first_of(": ")));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return usage(text("{} needs a value", "{} 需要一个值", option), path);
  }
  return usage(text("cannot understand this: {}", "无法理解：{}", clean(what)), path);
}

}  // namespace

Result<Parsed> parse(const std::vector<Command>& commands, const std::vector<std::string>& words) {
  // CLI11 sees what stands before "--"; the rest is nobody's option.
  const auto dashes = std::find(words.begin(), words.end(), "--");
  Tree tree;
  Slot globals;
  build(tree, commands, globals);
  try {
    tree.root.parse(std::vector<std::string>(std::reverse_iterator(dashes), words.rend()));
  } catch (const CLI::ParseError& error) {
    return refused(tree, error);
  }
  std::string path;
  const CLI::App* app = deepest(tree.root, path);
  const auto it = std::find_if(tree.slots.begin(), tree.slots.end(),
                               [&](const auto& each) { return each->app == app; });
  Slot* slot = it == tree.slots.end() ? nullptr : it->get();
  Parsed parsed;
  parsed.command = slot == nullptr ? nullptr : slot->command;
  if (slot == nullptr) parsed.group = path;
  TRY_ASSIGN(parsed.globals, globals_of(globals));
  std::vector<std::string> rest = tree.root.remaining(true);
  for (const std::string& word : rest) {
    if (word.size() > 1 && word[0] == '-') return unknown_option(parsed.command, path, word);
  }
  if (dashes != words.end()) rest.insert(rest.end(), dashes + 1, words.end());
  if (slot == nullptr) {
    if (!rest.empty()) return unknown_command(*app, path, rest.front());
    return parsed;
  }
  if (parsed.globals.help) return parsed;
  TRY(place(rest, *slot));
  TRY(check_values(*slot));
  parsed.arguments = arguments_of(*slot);
  return parsed;
}

std::optional<Language> language_asked(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].starts_with("--lang=")) return enum_from<Language>(words[i].substr(7));
    if (words[i] == "--lang" && i + 1 < words.size()) return enum_from<Language>(words[i + 1]);
  }
  return std::nullopt;
}

}  // namespace cardhour::cli
