// Help that teaches: grouped commands, examples, both languages, all from the list of
// commands. Thread-safe: pure functions.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace cardhour::cli {

std::string root_help(const std::vector<Command>& commands, Language language);
// Of "ssh-key" or "admin price": the commands that begin with these words.
std::string group_help(const std::vector<Command>& commands, const std::string& words,
                       Language language);
std::string command_help(const Command& command, Language language);

// "cardhour start [OPTIONS] ID".
std::string usage_line(const Command& command);

}  // namespace cardhour::cli
