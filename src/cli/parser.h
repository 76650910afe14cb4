// The command line into a command and its arguments: CLI11 does the grammar, in parser.cc
// alone; commands are data (command.h). Thread-safe: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command.h"

namespace cardhour::cli {

struct Globals {
  bool help = false;
  bool json = false;
  bool yes = false;
  std::optional<Language> language;
  std::optional<std::string> server;
  std::optional<std::string> profile;
};

struct Parsed {
  Globals globals;
  const Command* command = nullptr;  // null: only a group ("ssh-key"), or nothing
  std::string group;                 // the words before a missing command
  Arguments arguments;
};

// `words` without the program's name. The commands must outlive the result.
// Errors are invalid_argument: an unknown command or option (with the nearest one), a
// missing argument, one too many.
Result<Parsed> parse(const std::vector<Command>& commands, const std::vector<std::string>& words);

// --lang anywhere before "--", for errors of parse() itself.
std::optional<Language> language_asked(const std::vector<std::string>& words);

}  // namespace cardhour::cli
