#include "domain/access.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "base/enum_text.h"
#include "base/limits.h"

namespace cardhour {
namespace {

constexpr std::array kPermissions = {Permission::anyone, Permission::read,  Permission::instances,
                                     Permission::money,  Permission::admin, Permission::guest};

Actor person(Role role, std::string_view scopes) {
  return {.account = {"a1"}, .role = role, .scopes = *parse_scopes(scopes), .name = "ann"};
}
Actor guest() { return {.account = {"a1"}, .instance = InstanceId{"i1"}, .name = "i1"}; }

// The permissions an actor has, as one word a permission.
std::string allowed(const Actor* actor) {
  std::string text;
  for (Permission permission : kPermissions) {
    if (!authorize(actor, permission)) continue;
    if (!text.empty()) text += ' ';
    text += enum_text(permission);
  }
  return text;
}

TEST(Authorize, Matrix) {
  EXPECT_EQ(allowed(nullptr), "anyone");
  const std::pair<Actor, const char*> rows[] = {
      {person(Role::renter, "read"), "anyone read"},
      {person(Role::renter, "instances"), "anyone instances"},
      {person(Role::renter, "money"), "anyone money"},
      {person(Role::renter, "read instances money"), "anyone read instances money"},
      {person(Role::renter, "admin"), "anyone"},  // the role decides too
      {person(Role::admin, "read"), "anyone read"},
      {person(Role::admin, "admin"), "anyone admin"},
      {guest(), "anyone guest"},
      {Actor::system("settle"), "anyone"},
  };
  for (const auto& [actor, expected] : rows) {
    EXPECT_EQ(allowed(&actor), expected) << enum_text(actor.role) << ": " << to_text(actor.scopes);
  }
  Actor admin = person(Role::admin, "read");
  admin.scopes = all_scopes(Role::admin);
  EXPECT_EQ(allowed(&admin), "anyone read instances money admin");
  admin.role = Role::renter;
  admin.scopes = all_scopes(Role::renter);
  EXPECT_EQ(allowed(&admin), "anyone read instances money");
}

TEST(Authorize, NobodyIsUnauthenticatedAndSomebodyForbidden) {
  const Actor reader = person(Role::renter, "read");
  EXPECT_EQ(authorize(nullptr, Permission::read).error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(authorize(&reader, Permission::money).error().code, ErrorCode::forbidden);
  EXPECT_EQ(authorize(&reader, Permission::admin).error().code, ErrorCode::forbidden);
  const Actor inside = guest();
  EXPECT_EQ(authorize(&inside, Permission::instances).error().code, ErrorCode::forbidden);
}

TEST(ScopesText, ReadsWords) {
  EXPECT_EQ(*parse_scopes("read"), (Scopes{.read = true}));
  EXPECT_EQ(*parse_scopes("instances, read"), (Scopes{.read = true, .instances = true}));
  EXPECT_EQ(*parse_scopes("  money   admin "), (Scopes{.money = true, .admin = true}));
  for (const char* text : {"", " ", ",", "write", "Read", "read;money", "readmoney"}) {
    const auto scopes = parse_scopes(text);
    ASSERT_FALSE(scopes.has_value()) << text;
    EXPECT_EQ(scopes.error().field, "scopes");
  }
}

RC_GTEST_PROP(ScopesText, RoundTrips, ()) {
  const Scopes scopes{*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(),
                      *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
  RC_PRE(!(scopes == Scopes{}));
  RC_ASSERT(*parse_scopes(to_text(scopes)) == scopes);
}

TEST(Login, IsLowerCaseAndNarrow) {
  EXPECT_EQ(*normalize_login("Ann"), "ann");
  EXPECT_EQ(*normalize_login("ann.lee+lab@example.org"), "ann.lee+lab@example.org");
  EXPECT_TRUE(normalize_login(std::string(64, 'a')).has_value());
  for (const std::string& text :
       {std::string(), std::string("ab"), std::string(65, 'a'), std::string("-rf"),
        std::string(".ssh"), std::string("a b"), std::string("a/b"), std::string("ann\n"),
        std::string("ann\0x", 5), std::string("安安安"), std::string("ann:x")}) {
    EXPECT_EQ(normalize_login(text).error().field, "login") << text;
  }
}

TEST(Password, RefusesTheWorst) {
  EXPECT_TRUE(check_password("correct horse", "ann").has_value());
  EXPECT_TRUE(check_password("密码密码密码", "ann").has_value());
  EXPECT_TRUE(check_password(std::string(255, 'a') + "b", "ann").has_value());
  EXPECT_FALSE(check_password("", "ann").has_value());
  EXPECT_FALSE(check_password("seven77", "ann").has_value());
  EXPECT_FALSE(check_password("aaaaaaaaaa", "ann").has_value());
  EXPECT_FALSE(check_password("annannann", "annannann").has_value());
  EXPECT_FALSE(check_password(std::string(256, 'a') + "b", "ann").has_value());
}

TEST(Utf8, AcceptsEveryLengthAndItsBorders) {
  for (const char* text : {"", "plain", "\u00A0", "\u07FF", "\u0800", "卡时", "\uD7FF", "\uE000",
                           "\uFFFD", "\U00010000", "😀", "\U0010FFFF"}) {
    EXPECT_TRUE(is_valid_utf8_text(text)) << text;
  }
}

TEST(Utf8, RefusesWhatIsMalformed) {
  const char* const bad[] = {
      "\x80",              // a continuation alone
      "\xBF",              //
      "\xC0\xAF",          // overlong '/'
      "\xC1\xBF",          // overlong
      "\xE0\x80\xAF",      // overlong
      "\xE0\x9F\xBF",      // overlong
      "\xF0\x80\x80\xAF",  // overlong
      "\xF0\x8F\xBF\xBF",  // overlong
      "\xED\xA0\x80",      // surrogate D800
      "\xED\xBF\xBF",      // surrogate DFFF
      "\xF4\x90\x80\x80",  // above 10FFFF
      "\xF5\x80\x80\x80",  // above 10FFFF
      "\xFE",              //
      "\xFF",              //
      "\xC3",              // cut
      "\xE5\x8D",          // cut
      "\xF0\x9F\x98",      // cut
      "\xC3(",             // no continuation
      "\xE5\x8D(",         //
      "ok\xFF",            //
  };
  for (const char* text : bad)
    EXPECT_FALSE(is_valid_utf8_text(text)) << testing::PrintToString(text);
}

TEST(Utf8, RefusesControlsAndMarksThatReorder) {
  for (const char* text :
       {"\t", "\n", "\r", "\x1B[31m", "\x7F", "\u0080", "\u0085", "\u009F", "\u2028", "\u2029",
        "\u202A", "\u202E", "a\u202Eb", "\u2066", "\u2069"}) {
    EXPECT_FALSE(is_valid_utf8_text(text)) << testing::PrintToString(text);
  }
  EXPECT_FALSE(is_valid_utf8_text(std::string_view("a\0b", 3)));
}

RC_GTEST_PROP(Utf8, AcceptsWhatAnEncoderWrites, ()) {
  const auto point = *rc::gen::inRange<uint32_t>(0xA0, 0x110000);
  const bool is_surrogate = point >= 0xD800 && point < 0xE000;
  const bool reorders = (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point < 0x206A);
  std::string text;
  const auto put = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto continuation = [&](int shift) { put(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    continuation(6);
  } else {
    put(0xF0 | point >> 18);
    continuation(12);
    continuation(6);
  }
  continuation(0);
  RC_ASSERT(is_valid_utf8_text(text) == !(is_surrogate || reorders));
}

TEST(Name, IsTrimmedAndBounded) {
  EXPECT_EQ(*normalize_name("name", "  my box  "), "my box");
  EXPECT_EQ(*normalize_name("name", "训练 1"), "训练 1");
  EXPECT_TRUE(normalize_name("name", std::string(limits::kNameBytes, 'x')).has_value());
  for (const std::string& text :
       {std::string(), std::string("   "), std::string(limits::kNameBytes + 1, 'x'),
        std::string("a\nb"), std::string("\xFF")}) {
    EXPECT_EQ(normalize_name("purpose", text).error().field, "purpose");
  }
}

}  // namespace
}  // namespace cardhour
