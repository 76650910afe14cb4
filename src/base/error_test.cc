#include "base/error.h"

#include <gtest/gtest.h>

#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>
#include <set>

#include "base/enum_text.h"
#include "base/secret.h"

namespace cardhour {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return invalid("n", {"odd", "奇数"}, {"use an even number", "请用偶数"});
  return n / 2;
}

Result<int> quarter(int n) {
  TRY_ASSIGN(const int once, half(n));
  TRY_ASSIGN(const int twice, half(once));
  return twice;
}

Status check_even(int n) {
  TRY(half(n));
  return {};
}

TEST(Error, EveryCodeHasARowWithBothLanguages) {
  int rows = 0;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<ErrorCode>>([&](auto described) {
    const ErrorRow& row = error_row(described.value);
    EXPECT_EQ(row.code, described.value);
    EXPECT_GE(row.http_status, 400) << described.name;
    EXPECT_LT(row.http_status, 600) << described.name;
    EXPECT_GT(row.exit_code, 0) << described.name;
    EXPECT_FALSE(row.title.en.empty()) << described.name;
    EXPECT_FALSE(row.title.zh.empty()) << described.name;
    EXPECT_NE(row.title.en, row.title.zh) << described.name;
    ++rows;
  });
  EXPECT_EQ(rows, static_cast<int>(ErrorCode::internal) + 1);
}

TEST(Error, TryPassesTheFirstErrorOn) {
  EXPECT_EQ(quarter(12), 3);
  const auto failed = quarter(6);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(failed.error().field, "n");
  EXPECT_EQ(failed.error().next.in(Language::zh), "请用偶数");
  EXPECT_TRUE(check_even(2));
  EXPECT_FALSE(check_even(3));
}

TEST(Error, TextFormatsBothLanguagesWithTheSameArguments) {
  const Text missing = text("{} is missing {}", "{} 还差 {}", "wallet", 12);
  EXPECT_EQ(missing.in(Language::en), "wallet is missing 12");
  EXPECT_EQ(missing.in(Language::zh), "wallet 还差 12");
}

TEST(EnumText, NamesAreTheWordsOnTheWire) {
  EXPECT_EQ(enum_text(ErrorCode::no_capacity), "no_capacity");
  EXPECT_EQ(enum_from<ErrorCode>("rate_limited"), ErrorCode::rate_limited);
  EXPECT_EQ(enum_from<ErrorCode>("Rate_limited"), std::nullopt);
  EXPECT_EQ(enum_from<ErrorCode>(""), std::nullopt);
}

TEST(Secret, IsReadOnlyThroughReveal) {
  Secret secret("hunter22");
  const Secret copy = secret;
  EXPECT_EQ(copy.reveal(), "hunter22");
  EXPECT_FALSE(secret.empty());
  EXPECT_TRUE(Secret().empty());
}

}  // namespace
}  // namespace cardhour
