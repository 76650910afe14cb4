#include "guest/identity.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "guest/files.h"

namespace cardhour::guest {
namespace {

namespace json = boost::json;

constexpr const char* kDirectory = "/var/lib/cardhour";
constexpr const char* kIdentityFile = "/var/lib/cardhour/identity.json";
constexpr const char* kPasswordMark = "/var/lib/cardhour/password.applied";
constexpr const char* kHostKey = "/etc/ssh/ssh_host_ed25519_key";
constexpr const char* kAuthorizedKeys = "/root/.ssh/authorized_keys";
constexpr std::string_view kBlockBegin = "# cardhour: begin (managed, changes in here are lost)";
constexpr std::string_view kBlockEnd = "# cardhour: end";
constexpr size_t kAuthorizedKeysBytesMax = 1024 * 1024;
constexpr size_t kKeysMax = 256;
constexpr size_t kPasswordBytesMax = 1024;

tl::unexpected<Error> bad(const std::string& member) {
  return fail(ErrorCode::invalid_argument,
              Text{"identity: wrong member " + member, "身份文件：" + member + " 有误"}, {},
              member);
}

bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// A member that is absent reads as empty. Only `lines` may have line ends.
enum class Content { one_line, lines };
Result<std::string> read_member(const json::object& object, const std::string& name,
                                Content content) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || value->is_null()) return "";
  if (!value->is_string()) return bad(name);
  std::string text(value->get_string());
  if (content == Content::one_line && has_control_characters(text)) return bad(name);
  return text;
}

Status read_keys(const json::object& object, Identity& identity) {
  const json::value* keys = object.if_contains("authorized_keys");
  if (keys == nullptr) return {};
  if (!keys->is_array() || keys->get_array().size() > kKeysMax) return bad("authorized_keys");
  for (const json::value& key : keys->get_array()) {
    if (!key.is_string() || has_control_characters(key.get_string())) {
      return bad("authorized_keys");
    }
    identity.authorized_keys.emplace_back(key.get_string());
  }
  return {};
}

Status read_host_key(const json::object& object, Identity& identity) {
  const json::value* key = object.if_contains("host_key");
  if (key == nullptr || key->is_null()) return {};
  if (!key->is_object()) return bad("host_key");
  TRY_ASSIGN(std::string text, read_member(key->get_object(), "private", Content::lines));
  if (!text.empty() && text.back() != '\n') text += '\n';  // OpenSSH refuses a key without
  identity.host_key_private = Secret(std::move(text));
  TRY_ASSIGN(identity.host_key_public, read_member(key->get_object(), "public", Content::one_line));
  return {};
}

bool is_hostname(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
  return name.size() <= 64 && name.front() != '-' && name.front() != '.' &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

Outcome outcome_of(bool changed) { return changed ? Outcome::changed : Outcome::unchanged; }

// sshd reads its host key when it starts only. Its parent process reloads on SIGHUP.
void reload_sshd(const Machine& machine) {
  const auto text = read_file(machine.at("/run/sshd.pid"), 32);
  int process = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), process).ec != std::errc{} ||
      process <= 1) {
    return;
  }
  // A stale file may name what is something else by now.
  const auto name = read_file(machine.at("/proc/" + std::to_string(process) + "/comm"), 64);
  if (name && *name == "sshd\n") machine.ask_to_reload(process);
}

Result<Outcome> apply_host_key(const Identity& identity, const Machine& machine) {
  if (identity.host_key_private.empty()) return Outcome::skipped;
  if (!is_directory(machine.at("/etc/ssh"))) return Outcome::skipped;
  const auto present = read_file(machine.at(kHostKey), kDocumentBytesMax);
  const bool is_ours = present && *present == identity.host_key_private.reveal();
  if (!is_ours) {
    // The other kinds came with the image: every instance of it has the same.
    for (const char* kind : {"rsa", "ecdsa", "dsa"}) {
      const std::string path = machine.at("/etc/ssh/ssh_host_" + std::string(kind) + "_key");
      TRY(remove_file(path));
      TRY(remove_file(path + ".pub"));
    }
  }
  TRY_ASSIGN(const bool private_changed,
             ensure_file(machine.at(kHostKey), identity.host_key_private.reveal(), 0600));
  TRY_ASSIGN(const bool public_changed, ensure_file(machine.at(std::string(kHostKey) + ".pub"),
                                                    identity.host_key_public + "\n", 0644));
  if (private_changed) reload_sshd(machine);
  return outcome_of(private_changed || public_changed);
}

Result<Outcome> apply_authorized_keys(const Identity& identity, const Machine& machine) {
  TRY(ensure_directory(machine.at("/root/.ssh"), 0700));
  const std::string path = machine.at(kAuthorizedKeys);
  auto present = read_file(path, kAuthorizedKeysBytesMax);
  if (!present && present.error().code != ErrorCode::not_found) {
    return fail(std::move(present.error()));
  }
  const std::string before = present.value_or("");
  TRY_ASSIGN(const bool changed,
             ensure_file(path, with_managed_block(before, identity.authorized_keys), 0600));
  return outcome_of(changed);
}

// Tells one password of one instance from another. The file with the password itself lies
// beside it with the same mode, so that this need not be a password hash.
std::string password_mark(const Identity& identity) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (unsigned char c : identity.instance + '\n' + identity.password.reveal()) {
    hash = (hash ^ c) * 0x100000001b3ULL;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%016llx\n", static_cast<unsigned long long>(hash));
  return text;
}

Result<Outcome> apply_password(const Identity& identity, const Machine& machine) {
  if (identity.password.empty()) return Outcome::skipped;
  const std::string mark = password_mark(identity);
  const auto applied = read_file(machine.at(kPasswordMark), 64);
  if (applied && *applied == mark) return Outcome::unchanged;
  TRY(machine.run({{"chpasswd"}, "root:" + identity.password.reveal() + "\n"}));
  TRY(ensure_directory(machine.at(kDirectory), 0700));
  TRY(write_file(machine.at(kPasswordMark), mark, 0600));
  return Outcome::changed;
}

Result<Outcome> apply_hostname(const Identity& identity, const Machine& machine) {
  if (identity.hostname.empty()) return Outcome::skipped;
  TRY(ensure_directory(machine.at("/etc"), 0755));
  TRY_ASSIGN(const bool changed,
             ensure_file(machine.at("/etc/hostname"), identity.hostname + "\n", 0644));
  TRY(machine.set_hostname(identity.hostname));
  return outcome_of(changed);
}

Result<Outcome> make_run_directory(const Identity&, const Machine& machine) {
  TRY(ensure_directory(machine.at("/run/cardhour"), 0755));
  return Outcome::unchanged;
}

Step step(std::string name, Result<Outcome> result) {
  if (result) return {std::move(name), *result, ""};
  return {std::move(name), Outcome::failed, result.error().what.en};
}

}  // namespace

Result<Identity> parse_identity(std::string_view document) {
  boost::system::error_code error;
  const json::value value = json::parse(document, error);
  if (error || !value.is_object()) {
    return fail(ErrorCode::invalid_argument,
                Text{"identity: not a JSON object", "身份文件：不是 JSON 对象"});
  }
  const json::object& object = value.get_object();
  Identity identity;
  TRY_ASSIGN(identity.instance, read_member(object, "instance", Content::one_line));
  TRY_ASSIGN(identity.hostname, read_member(object, "hostname", Content::one_line));
  TRY_ASSIGN(identity.guest_url, read_member(object, "guest_url", Content::one_line));
  TRY_ASSIGN(std::string token, read_member(object, "token", Content::one_line));
  TRY_ASSIGN(std::string password, read_member(object, "password", Content::one_line));
  identity.token = Secret(std::move(token));
  identity.password = Secret(std::move(password));
  if (identity.instance.empty()) return bad("instance");
  if (identity.password.reveal().size() > kPasswordBytesMax) return bad("password");
  if (!identity.hostname.empty() && !is_hostname(identity.hostname)) return bad("hostname");
  TRY(read_keys(object, identity));
  TRY(read_host_key(object, identity));
  return identity;
}

std::vector<Step> apply_identity(const Identity& identity, const Machine& machine) {
  return {step("host_key", apply_host_key(identity, machine)),
          step("authorized_keys", apply_authorized_keys(identity, machine)),
          step("password", apply_password(identity, machine)),
          step("hostname", apply_hostname(identity, machine)),
          step("run_directory", make_run_directory(identity, machine))};
}

Status store_identity(std::string_view document, const Machine& machine) {
  TRY(ensure_directory(machine.at(kDirectory), 0700));
  return write_file(machine.at(kIdentityFile), document, 0600);
}

Result<Identity> load_identity(const Machine& machine) {
  TRY_ASSIGN(const std::string document, read_file(machine.at(kIdentityFile), kDocumentBytesMax));
  // It may have been put here from outside, with other modes.
  TRY(ensure_directory(machine.at(kDirectory), 0700));
  TRY(ensure_file(machine.at(kIdentityFile), document, 0600));
  return parse_identity(document);
}

std::string with_managed_block(std::string_view text, const std::vector<std::string>& lines) {
  std::string block = std::string(kBlockBegin) + "\n";
  for (const std::string& line : lines) block += line + "\n";
  block += std::string(kBlockEnd) + "\n";

  std::string lines_now(text);
  if (!lines_now.empty() && lines_now.back() != '\n') lines_now += '\n';
  // The last beginning before an end: one whose end was deleted is the renter's text now.
  size_t begin = std::string::npos;
  for (size_t at = 0; at < lines_now.size();) {
    const size_t next = lines_now.find('\n', at) + 1;
    const std::string_view line = std::string_view(lines_now).substr(at, next - at - 1);
    if (line == kBlockBegin) begin = at;
    if (line == kBlockEnd && begin != std::string::npos) {
      return lines_now.substr(0, begin) + block + lines_now.substr(next);
    }
    at = next;
  }
  return lines_now + block;
}

}  // namespace cardhour::guest
