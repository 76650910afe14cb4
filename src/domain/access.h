// Who may do what. Every endpoint names one Permission; an Actor has it or not. Denied is
// the default. Pure.
#pragma once

#include <boost/describe/enum.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/id.h"

namespace cardhour {

enum class Role { renter, admin };
BOOST_DESCRIBE_ENUM(Role, renter, admin)

// What an endpoint asks for. `anyone` needs no login; `guest` is an instance's own token.
enum class Permission { anyone, read, instances, money, admin, guest };
BOOST_DESCRIBE_ENUM(Permission, anyone, read, instances, money, admin, guest)

// What a token may do: a set of read, instances, money, admin. `instances` and `money`
// include nothing else: a token for experiments that also reads needs both.
struct Scopes {
  bool read = false;
  bool instances = false;
  bool money = false;
  bool admin = false;

  bool operator==(const Scopes&) const = default;
};
Scopes all_scopes(Role role);
// "read instances" <-> Scopes; unknown words are invalid_argument.
Result<Scopes> parse_scopes(std::string_view text);
std::string to_text(const Scopes& scopes);

// Who asks. Instances ask with their own token, which acts for one instance only.
struct Actor {
  AccountId account;
  Role role = Role::renter;
  Scopes scopes;
  std::optional<InstanceId> instance;  // set: this is a guest, `scopes` is empty
  std::string name;                    // for events and the audit log: login or instance id

  // The control plane itself, for events that nobody asked for.
  static Actor system(std::string_view part);
};

// unauthenticated or forbidden, or nothing. `actor` is null for nobody.
Status authorize(const Actor* actor, Permission permission);

// Input rules. Logins are lower case: letters, digits and . _ - + @, 3 to 64 characters.
Result<std::string> normalize_login(std::string_view text);
Status check_password(std::string_view text, std::string_view login);
// Names people give to things: any UTF-8 without control characters, trimmed, 1 to 128 bytes.
Result<std::string> normalize_name(std::string_view field, std::string_view text);
bool is_valid_utf8_text(std::string_view text);  // valid UTF-8 and no control characters

}  // namespace cardhour
