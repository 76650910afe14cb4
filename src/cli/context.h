// What a command has to work with: the language, the switches, the profile, and the server's
// client, made when first asked for. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/money.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/config.h"
#include "cli/parser.h"

namespace cardhour::wire {
struct InstanceView;
}

namespace cardhour::cli {

// "0.1.0"
std::string program_version();

struct Context {
  Language language = Language::en;
  bool json = false;
  bool yes = false;
  std::string directory;              // of the configuration
  std::string profile;                // its name; "default" if there is none yet
  std::optional<std::string> server;  // --server or CARDHOUR_SERVER, normalized
  Config config;
  const std::vector<Command>* commands = nullptr;
  const LocalActions* local = nullptr;

  // Reads the environment and the configuration.
  static Result<Context> make(const Globals& globals, Language language);

  // The server's client; `client` needs a login, `open_client` takes nobody too.
  Result<Client*> open_client();
  Result<Client*> client();
  // A client of another server, or with another token, from now on.
  void use(Client::Options options);
  // How the server writes money; asked once, ¥ with two decimals if it does not say.
  const Currency& currency();

  // stdout, with a line break at the end.
  void say(const Text& text) const;
  void put(const std::string& text) const;
  // stderr.
  void note(const Text& text) const;
  const std::string& in(const Text& text) const { return text.in(language); }

  // Asks yes or no, default no. True at once with --yes; invalid_argument when nobody is
  // there to answer.
  Result<bool> confirm(const Text& question) const;

 private:
  Result<Client::Options> options() const;
  std::unique_ptr<Client> client_;
  std::optional<Currency> currency_;
};

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
// A "no" to a question: nothing was done.
Outcome declined(const Context& context);

// An error on stderr: what happened and why, then what to do next. Gives the exit code.
int report(const Error& error, Language language);

// All pages of a list as one JSON page; `/instances`, with up to 10 000 rows.
Result<std::string> all_pages(Client& client, const std::string& path, Query query = {});

// "i7abc..." of what people type: an id or an exact name. not_found says how to list them.
Result<wire::InstanceView> find_instance(Client& client, const std::string& id_or_name);

}  // namespace cardhour::cli
