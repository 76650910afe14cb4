// The small grammars that the CLI, the API and the configuration share: what is accepted is in
// range, and what is written back is read as the same.
#include "base/check.h"
#include "base/money.h"
#include "base/port_range.h"
#include "base/size.h"
#include "base/time.h"
#include "domain/access.h"
#include "tests/fuzz/fuzz.h"

namespace cardhour::fuzz {
namespace {

template <class T>
void check_refusal(const Result<T>& result) {
  if (result) return;
  CHECK(!result.error().what.en.empty() && !result.error().what.zh.empty(), "refused in both");
}

void run(std::string_view text) {
  const auto size = parse_size(text);
  check_refusal(size);
  if (size) CHECK(*size >= 0 && *size <= int64_t{1} << 50, "a size of at most 1 PiB");
  if (size) CHECK(!for_people_bytes(*size).empty(), "a size is shown");

  const auto duration = parse_duration(text);
  check_refusal(duration);
  if (duration) CHECK(duration->ms >= 1 && *duration <= days(3653), "at most 10 years");
  if (duration) CHECK(!for_people(*duration, Language::zh).empty(), "a time is shown");

  const auto money = parse_money(text);
  check_refusal(money);
  if (money) {
    CHECK(parse_money(to_decimal(*money)) == money, "money is read as it is written");
    CHECK(!format(Currency{}, *money).empty(), "money is shown");
  }

  const auto time = parse_rfc3339(text);
  check_refusal(time);
  if (time) CHECK(parse_rfc3339(to_rfc3339(*time)) == time, "a time is read as it is written");

  const auto ports = parse_port_range(text);
  check_refusal(ports);
  const auto scopes = parse_scopes(text);
  check_refusal(scopes);
  if (scopes) CHECK(parse_scopes(to_text(*scopes)) == scopes, "scopes are read as written");
  const auto login = normalize_login(text);
  check_refusal(login);
  if (login) CHECK(normalize_login(*login) == login, "a login is normal once normalized");
  const auto name = normalize_name("name", text);
  check_refusal(name);
  if (name) CHECK(normalize_name("name", *name) == name, "a name is normal once normalized");
}

}  // namespace

Target grammars_target() {
  return {"grammars",
          run,
          {"GiB", "TiB", "P", "1h30m", "7d", "-", ".000001", "999999999999", "9223372036854775808",
           "2026-02-29T", "23:59:60Z", "+14:00", "T00:00:00", "read", "admin", "65535", "-65536",
           "\xe2\x80\xae", "\xc3"}};
}

}  // namespace cardhour::fuzz
