// Words typed after `cardhour`, one a line: parsed, or refused in both languages.
#include "base/check.h"
#include "cli/config.h"
#include "cli/parser.h"
#include "cli/width.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

namespace cardhour::fuzz {
namespace {

void run(std::string_view input) {
  static const auto commands = cli::all_commands();
  std::vector<std::string> words;
  while (!input.empty() && words.size() < 40) {
    std::string word(take_line(input));
    static_cast<void>(cli::normalize_server(word));
    // argv has no zero bytes.
    if (word.find('\0') == std::string::npos) words.push_back(std::move(word));
  }
  const auto parsed = cli::parse(commands, words);
  static_cast<void>(cli::language_asked(words));
  if (!parsed) {
    CHECK(parsed.error().code == ErrorCode::invalid_argument, "a wrong line is the typist's");
    CHECK(!parsed.error().what.en.empty() && !parsed.error().what.zh.empty(), "refused in both");
    return;
  }
  if (parsed->command == nullptr || parsed->globals.help) return;
  for (const cli::Positional& positional : parsed->command->positionals) {
    const bool given = parsed->arguments.has(positional.name);
    const bool needed = positional.need == cli::Positional::Need::required;
    CHECK(given || !needed, "what is required was given");
  }
}

}  // namespace

Target command_line_target() {
  return {"command_line",
          run,
          {"--json", "--lang", "zh", "--", "--yes", "--profile", "-n", "--gpu", "--help", "rent",
           "ssh-key", "admin", "topup", "--data-disk", "=", "--=", "-", "\n"},
          40};
}

}  // namespace cardhour::fuzz
