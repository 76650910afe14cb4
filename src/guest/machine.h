// What the guest asks of the system it runs in, apart from files. Tests put recorders in
// place of the functions and a scratch directory in place of the root. Used by one thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cardhour::guest {

struct Command {
  std::vector<std::string> arguments;  // the first is looked up in PATH
  std::string input;
};

struct Machine {
  std::string root;  // before every path; empty on a real system
  // Runs to the end, for at most 10 s; its output. not_found: there is no such program.
  std::function<Result<std::string>(const Command&)> run;
  // Starts a program that outlives us, with its output discarded.
  std::function<Status(const std::vector<std::string>&)> start_detached;
  std::function<Status(const std::string&)> set_hostname;
  std::function<void(int process)> ask_to_reload;  // SIGHUP

  std::string at(std::string_view absolute_path) const { return root + std::string(absolute_path); }
};

// The real one. With a root other than "" nothing outside of that directory is changed.
Machine real_machine(std::string root);

}  // namespace cardhour::guest
