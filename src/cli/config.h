// What the CLI remembers: profiles, each a server with a login and its token, in
// $XDG_CONFIG_HOME/cardhour/config.json (else ~/.config/cardhour/). Invariant: the file is
// 0600 in a directory of 0700 and is replaced atomically, so that a kill never loses a login.
// Not thread-safe.
#pragma once

#include <boost/describe/class.hpp>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/secret.h"

namespace cardhour::cli {

struct Profile {
  std::string server;  // "http://127.0.0.1:8080", without a slash at the end
  std::string login;
  Secret token;
  std::optional<std::string> fingerprint;  // of a certificate that no authority signed
};
BOOST_DESCRIBE_STRUCT(Profile, (), (server, login, token, fingerprint))

struct Config {
  std::optional<std::string> current;  // the profile used without --profile
  std::map<std::string, Profile> profiles;

  const Profile* find(const std::string& name) const;
};
BOOST_DESCRIBE_STRUCT(Config, (), (current, profiles))

// $XDG_CONFIG_HOME/cardhour, or ~/.config/cardhour. Fails when neither variable is set.
Result<std::string> config_directory();

// An absent file is an empty Config.
Result<Config> load_config(const std::string& directory);
Status save_config(const std::string& directory, const Config& config);

// Writes `text` into directory/name: a new file of mode 0600, renamed over the old one. The
// directory is made (0700) if it is missing.
Status write_private_file(const std::string& directory, const std::string& name,
                          const std::string& text);
// nullopt when the file does not exist; at most 1 MiB.
Result<std::optional<std::string>> read_file(const std::string& path);

// "example.org" -> "https://example.org", "localhost:8080" -> "http://localhost:8080"; no
// slash at the end. Refuses other schemes, credentials, paths and queries.
Result<std::string> normalize_server(const std::string& typed);
// The password or token would travel readable by others: http to another machine.
bool is_clear_text(const std::string& server);

}  // namespace cardhour::cli
