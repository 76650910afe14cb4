// Completion scripts for bash, zsh and fish, made from the list of commands. Thread-safe:
// pure functions.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace cardhour::cli {

// What may follow a path of words: the next words of commands, the options of the command.
struct Completions {
  std::string path;  // "" for the first word
  std::vector<std::string> words;
};
std::vector<Completions> completions_of(const std::vector<Command>& commands);

enum class Shell { bash, zsh, fish };
std::string completion_script(const std::vector<Command>& commands, Shell shell, Language language);

}  // namespace cardhour::cli
