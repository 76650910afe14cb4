#include "domain/access.h"

#include <algorithm>

#include "base/limits.h"

namespace cardhour {
namespace {

bool is_login_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' ||
         c == '+' || c == '@';
}

bool has(const Actor& actor, Permission permission) {
  switch (permission) {
    case Permission::anyone:
      return true;
    case Permission::read:
      return actor.scopes.read;
    case Permission::instances:
      return actor.scopes.instances;
    case Permission::money:
      return actor.scopes.money;
    case Permission::admin:
      return actor.scopes.admin && actor.role == Role::admin;
    case Permission::guest:
      return actor.instance.has_value();
  }
  return false;
}

// The length of the UTF-8 sequence at `at`, or 0 when it is malformed (RFC 3629).
size_t utf8_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(at);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xC2 ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  if (length >= 3) {
    const uint8_t second = byte(at + 1);
    if (lead == 0xE0 && second < 0xA0) return 0;
    if (lead == 0xED && second > 0x9F) return 0;  // surrogates
    if (lead == 0xF0 && second < 0x90) return 0;
    if (lead == 0xF4 && second > 0x8F) return 0;
  }
  return length;
}

}  // namespace

Scopes all_scopes(Role role) { return Scopes{true, true, true, role == Role::admin}; }

Result<Scopes> parse_scopes(std::string_view text) {
  Scopes scopes;
  while (!text.empty()) {
    const size_t end = text.find_first_of(" ,");
    const std::string_view word = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (word.empty()) continue;
    if (word == "read")
      scopes.read = true;
    else if (word == "instances")
      scopes.instances = true;
    else if (word == "money")
      scopes.money = true;
    else if (word == "admin")
      scopes.admin = true;
    else
      return invalid(
          "scopes",
          cardhour::text("unknown scope \"{}\"", "未知的权限范围“{}”",
                         std::string(word.substr(0, 40))),
          Text{"use read, instances, money, admin", "可用：read、instances、money、admin"});
  }
  if (scopes == Scopes{}) {
    return invalid(
        "scopes", Text{"a token needs at least one scope", "令牌至少需要一个权限范围"},
        Text{"use read, instances, money, admin", "可用：read、instances、money、admin"});
  }
  return scopes;
}

std::string to_text(const Scopes& scopes) {
  std::string text;
  const auto add = [&](bool has_it, const char* word) {
    if (!has_it) return;
    if (!text.empty()) text += ' ';
    text += word;
  };
  add(scopes.read, "read");
  add(scopes.instances, "instances");
  add(scopes.money, "money");
  add(scopes.admin, "admin");
  return text;
}

Actor Actor::system(std::string_view part) {
  Actor actor;
  actor.name = "system:" + std::string(part);
  return actor;
}

Status authorize(const Actor* actor, Permission permission) {
  if (permission == Permission::anyone) return {};
  if (actor == nullptr) {
    return fail(ErrorCode::unauthenticated, Text{"this needs a login", "此操作需要先登录"},
                Text{"run `cardhour login URL`, or send a bearer token",
                     "请运行 `cardhour login URL`，或在请求中携带令牌"});
  }
  if (has(*actor, permission)) return {};
  if (actor->instance) {
    return fail(ErrorCode::forbidden,
                Text{"an instance's token cannot do this", "实例令牌无权执行此操作"});
  }
  if (permission == Permission::admin && actor->role != Role::admin) {
    return fail(ErrorCode::forbidden,
                Text{"only an operator may do this", "只有运营者可以执行此操作"});
  }
  return fail(
      ErrorCode::forbidden, Text{"this token lacks the scope for it", "此令牌缺少所需的权限范围"},
      Text{"make a token with the scope, or log in", "请创建带有该权限范围的令牌，或重新登录"});
}

Result<std::string> normalize_login(std::string_view text) {
  std::string login;
  for (char c : text) login.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  const bool right = login.size() >= 3 && login.size() <= limits::kLoginBytes && login[0] != '-' &&
                     login[0] != '.' && std::all_of(login.begin(), login.end(), is_login_character);
  if (right) return login;
  return invalid("login", Text{"a login is 3 to 64 characters: letters, digits and . _ - + @",
                               "登录名为 3 到 64 个字符：字母、数字和 . _ - + @"});
}

Status check_password(std::string_view text, std::string_view login) {
  if (text.size() < limits::kPasswordBytesMin) {
    return invalid("password", Text{"a password has at least 8 characters", "密码至少 8 个字符"});
  }
  if (text.size() > limits::kPasswordBytesMax) {
    return invalid("password", Text{"a password has at most 256 bytes", "密码最多 256 字节"});
  }
  if (text == login) {
    return invalid("password", Text{"the password is the login", "密码不能与登录名相同"});
  }
  if (text.find_first_not_of(text[0]) == std::string_view::npos) {
    return invalid("password",
                   Text{"the password is one character repeated", "密码不能是同一个字符的重复"});
  }
  return {};
}

bool is_valid_utf8_text(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text, at);
    if (length == 0) return false;
    const auto first = static_cast<uint8_t>(text[at]);
    if (length == 1 && (first < 0x20 || first == 0x7F)) return false;
    // C1 controls, U+0080 to U+009F; and the marks that reorder text on a screen.
    if (length == 2 && first == 0xC2 && static_cast<uint8_t>(text[at + 1]) < 0xA0) return false;
    const std::string_view sequence = text.substr(at, length);
    for (std::string_view mark : {"\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2066",
                                  "\u2067", "\u2068", "\u2069", "\u2028", "\u2029"}) {
      if (sequence == mark) return false;
    }
    at += length;
  }
  return true;
}

Result<std::string> normalize_name(std::string_view field, std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.empty() || text.size() > limits::kNameBytes) {
    return invalid(std::string(field),
                   Text{"a name has 1 to 128 bytes", "名称长度为 1 到 128 字节"});
  }
  if (!is_valid_utf8_text(text)) {
    return invalid(std::string(field), Text{"a name is UTF-8 text without control characters",
                                            "名称必须是不含控制字符的 UTF-8 文本"});
  }
  return std::string(text);
}

}  // namespace cardhour
