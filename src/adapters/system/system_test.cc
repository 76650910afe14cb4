#include <gtest/gtest.h>

#include <array>
#include <set>

#include "adapters/system/clock.h"
#include "adapters/system/entropy.h"
#include "base/crypto.h"

namespace cardhour {
namespace {

TEST(SystemClock, NeverRunsBackwardsAndKeepsToTheWallClock) {
  SystemClock clock;
  Timestamp last = clock.now();
  for (int i = 0; i < 10'000; ++i) {
    const Timestamp now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_LT(clock.drift(), seconds(1));
  EXPECT_GT(clock.drift(), Duration{-1000});
}

TEST(SystemClock, BeginsWhereTheProcessBeforeItWas) {
  const Timestamp ahead = SystemClock().now() + hours(1);
  SystemClock clock(ahead);
  EXPECT_GE(clock.now(), ahead);
  EXPECT_LT(clock.now(), ahead + minutes(1));
  EXPECT_LT(clock.drift(), Duration{} - minutes(59));
  EXPECT_LT(SystemClock(ahead - days(1)).now(), ahead) << "a later wall clock counts";
}

TEST(SystemEntropy, FillsEveryByteAndDrawsDistinctIds) {
  crypto_init();
  SystemEntropy entropy;
  std::array<uint8_t, 33> any{};  // ORed together, no byte stays zero
  for (int i = 0; i < 64; ++i) {
    std::array<uint8_t, 33> bytes{};
    entropy.fill(bytes);
    for (size_t at = 0; at < bytes.size(); ++at) any[at] |= bytes[at];
  }
  for (const uint8_t byte : any) EXPECT_NE(byte, 0);
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(entropy.id<InstanceId>().text);
  EXPECT_EQ(ids.size(), 1000u);
}

}  // namespace
}  // namespace cardhour
