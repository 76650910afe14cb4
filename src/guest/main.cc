// cardhour-guest: the one program of ours inside an instance, mounted read-only at
// /opt/cardhour. Static, so that it runs in whatever image a renter chose.
// $CARDHOUR_GUEST_ROOT puts every path below a scratch directory, for tests.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "guest/commands.h"

namespace {

using namespace cardhour::guest;

constexpr const char* kCards = "/opt/cardhour/cardhour-cards";
constexpr const char* kHelp =
    "cardhour-guest: what Cardhour does inside an instance\n"
    "  apply             store the identity document of standard input and apply it\n"
    "  boot              apply the stored identity\n"
    "  notice            put up the notice of standard input; notice --withdraw takes it down\n"
    "  shutdown-notice   tell the control plane that this instance shuts down\n"
    "  ready             tell the engine that this instance is ready\n"
    "  cards             show the cards that are visible here\n"
    "  version, help\n";

struct Subcommand {
  std::string_view name;
  Answer (*run)(const Machine&, const Invocation&);
};
constexpr std::array<Subcommand, 5> kSubcommands = {{{"apply", apply},
                                                     {"boot", boot},
                                                     {"notice", notice},
                                                     {"shutdown-notice", shutdown_notice},
                                                     {"ready", ready}}};

int cards() {
  execl(kCards, kCards, static_cast<char*>(nullptr));
  std::fprintf(stderr, "%s: %s\n", kCards, std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "help";
  if (name == "cards") return cards();
  if (name == "version") return std::puts(CARDHOUR_VERSION) < 0;
  if (name == "help") return std::fputs(kHelp, stdout) < 0;
  const char* root = std::getenv("CARDHOUR_GUEST_ROOT");
  const Machine machine = real_machine(root != nullptr ? root : "");
  for (const Subcommand& subcommand : kSubcommands) {
    if (subcommand.name != name) continue;
    const Answer answer = subcommand.run(machine, {{argv + 2, argv + argc}, STDIN_FILENO});
    std::puts(answer.line.c_str());
    return answer.exit_code;
  }
  std::fputs(kHelp, stderr);
  return 2;
}
