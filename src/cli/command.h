// Commands as data: name, arguments, texts in both languages and the function that runs it
// stand side by side. The parser, the help, the completion scripts and the tests walk the
// same list. Adding a command: one row in the file of its group. Thread-safe: plain values.
#pragma once

#include <boost/describe/enum.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace cardhour::cli {

struct Context;

// Where a command stands in the help, in this order.
enum class Group { start, market, instances, money, account, admin, tool };
BOOST_DESCRIBE_ENUM(Group, start, market, instances, money, account, admin, tool)
const Text& group_title(Group group);

struct Option {
  std::string names;  // "--name" or "-n,--count"; the first long one is its key
  std::string value;  // what stands for the value in the help, e.g. "24G"; empty: a switch
  Text help;
  std::vector<std::string> choices = {};  // if not empty, the value is one of them
};

struct Positional {
  enum class Need { required, optional, rest };
  std::string name;  // "ID"
  Text help;
  Need need = Need::required;
  std::vector<std::string> choices = {};
};

struct Example {
  std::string line;
  Text help;
};

// What was typed for one command. Asking for a name the command does not have is a bug.
class Arguments {
 public:
  Arguments() = default;
  Arguments(std::set<std::string> known, std::map<std::string, std::vector<std::string>> values)
      : known_(std::move(known)), values_(std::move(values)) {}

  bool has(const std::string& name) const { return !all(name).empty(); }
  std::optional<std::string> find(const std::string& name) const;
  std::string text(const std::string& name) const { return find(name).value_or(""); }
  const std::vector<std::string>& all(const std::string& name) const;
  // A whole number of a range; nullopt when it was not typed.
  Result<std::optional<int64_t>> number(const std::string& name, int64_t lowest,
                                        int64_t highest) const;
  // Given to the parser as `--name value`.
  void set(const std::string& name, std::string value) { values_[name] = {std::move(value)}; }

 private:
  std::set<std::string> known_;
  std::map<std::string, std::vector<std::string>> values_;
};

// The exit code.
using Outcome = Result<int>;

struct Command {
  std::string path;  // "rent", "ssh-key add"
  Group group = Group::tool;
  Text summary;
  std::vector<Positional> positionals = {};
  std::vector<Option> options = {};
  std::vector<Example> examples = {};
  Text details = {};
  std::function<Outcome(Context&, const Arguments&)> run;
};

// "--count" of "-n,--count": how Arguments knows it.
std::string option_key(const Option& option);
// "-n", "--count".
std::vector<std::string> option_names(const Option& option);
// The first word of a path, and the rest.
std::vector<std::string> path_words(const std::string& path);

// Every command, in the order of the help.
std::vector<Command> all_commands();

// One file per group fills these in.
void add_account_commands(std::vector<Command>& to);
void add_key_commands(std::vector<Command>& to);
void add_market_commands(std::vector<Command>& to);
void add_estimate_commands(std::vector<Command>& to);
void add_estimate_money_commands(std::vector<Command>& to);
void add_rent_commands(std::vector<Command>& to);
void add_instance_commands(std::vector<Command>& to);
void add_lifecycle_commands(std::vector<Command>& to);
void add_ssh_commands(std::vector<Command>& to);
void add_event_commands(std::vector<Command>& to);
void add_money_commands(std::vector<Command>& to);
void add_admin_commands(std::vector<Command>& to);
void add_telemetry_commands(std::vector<Command>& to);
void add_care_commands(std::vector<Command>& to);
void add_recovery_commands(std::vector<Command>& to);
void add_tool_commands(std::vector<Command>& to);

// The options that every command takes.
const std::vector<Option>& global_options();

}  // namespace cardhour::cli
