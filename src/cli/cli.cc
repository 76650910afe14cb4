#include "cli/cli.h"

#include <curl/curl.h>

#include "cli/command.h"
#include "cli/context.h"
#include "cli/help.h"
#include "cli/parser.h"
#include "cli/terminal.h"

namespace cardhour {
namespace {

using namespace cli;  // this file is its front door

int run_parsed(const std::vector<Command>& commands, const Parsed& parsed,
               const LocalActions& local, Language language) {
  if (parsed.command == nullptr) {
    const bool asked = parsed.globals.help || parsed.group.empty();
    const std::string help = parsed.group.empty() ? root_help(commands, language)
                                                  : group_help(commands, parsed.group, language);
    if (asked) {
      print(help);
      return kDone;
    }
    remark(help);
    return error_row(ErrorCode::invalid_argument).exit_code;
  }
  if (parsed.globals.help) {
    print(command_help(*parsed.command, language));
    return kDone;
  }
  Result<Context> context = Context::make(parsed.globals, language);
  if (!context) return report(context.error(), language);
  context->commands = &commands;
  context->local = &local;
  const Outcome outcome = parsed.command->run(*context, parsed.arguments);
  return outcome ? *outcome : report(outcome.error(), language);
}

}  // namespace

int cli_main(int argc, char** argv, const LocalActions& local) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const Language language = language_asked(words).value_or(language_of_environment());
  const std::vector<Command> commands = all_commands();
  const Result<Parsed> parsed = parse(commands, words);
  if (!parsed) return report(parsed.error(), language);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const int exit =
      run_parsed(commands, *parsed, local, parsed->globals.language.value_or(language));
  curl_global_cleanup();
  return exit;
}

}  // namespace cardhour
