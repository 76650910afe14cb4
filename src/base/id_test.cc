#include "base/id.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace cardhour {
namespace {

static_assert(!std::is_convertible_v<AccountId, InstanceId>);
static_assert(!std::is_constructible_v<AccountId, InstanceId>);

TEST(Id, HasThePrefixOfItsKind) {
  EXPECT_EQ(make_id<InstanceTag>(0).text, "iaaaaaaaaaaaa");
  EXPECT_EQ(make_id<AccountTag>(~0ULL).text, "a999999999999");
  EXPECT_TRUE(AccountId{}.empty());
}

TEST(Id, RefusesWhatIsNotAnId) {
  for (const char* text :
       {"", "i", "iaaaaaaaaaaa", "iaaaaaaaaaaaaa", "aaaaaaaaaaaaa", "iaaaaaaaaaaa/",
        "iAaaaaaaaaaaa", "iaaaaaaaaaaa1", "iaaaaaaaaaaal", "i..aaaaaaaaaa", "iaaaaaaaaaaa\n"}) {
    EXPECT_FALSE(is_id_text('i', text)) << text;
  }
  EXPECT_FALSE(is_id_text('i', std::string_view("iaaaaaaaaaaa\0", 13)));
}

TEST(Id, HashesByItsText) {
  const std::unordered_set<HostId> hosts{make_id<HostTag>(1), make_id<HostTag>(2),
                                         make_id<HostTag>(1)};
  EXPECT_EQ(hosts.size(), 2u);
}

RC_GTEST_PROP(Id, EveryDrawIsAnIdOfItsKindOnly, (unsigned long long bits)) {
  const auto id = make_id<RunTag>(bits);
  RC_ASSERT(is_id_text('r', id.text));
  RC_ASSERT(!is_id_text('i', id.text));
}

RC_GTEST_PROP(Id, SixtyBitsMakeADifference, (unsigned long long a, unsigned long long b)) {
  constexpr unsigned long long kMask = (1ULL << 60) - 1;
  RC_ASSERT((id_text('o', a) == id_text('o', b)) == ((a & kMask) == (b & kMask)));
}

}  // namespace
}  // namespace cardhour
