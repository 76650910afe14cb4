#include "base/size.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace cardhour {
namespace {

TEST(ParseSize, GAndGiBAreTheSame) {
  EXPECT_EQ(parse_size("24G"), 24 * kGiB);
  EXPECT_EQ(parse_size("24GiB"), 24 * kGiB);
  EXPECT_EQ(parse_size("24gb"), 24 * kGiB);
  EXPECT_EQ(parse_size("24 GiB"), 24 * kGiB);
  EXPECT_EQ(parse_size("512M"), 512 * kMiB);
  EXPECT_EQ(parse_size("2T"), 2048 * kGiB);
  EXPECT_EQ(parse_size("1073741824"), kGiB);
  EXPECT_EQ(parse_size("1073741824B"), kGiB);
  EXPECT_EQ(parse_size("0"), 0);
  EXPECT_EQ(parse_size("1P"), kGiB << 20);
  EXPECT_EQ(parse_size("1024T"), kGiB << 20);
}

TEST(ParseSize, RefusesTheRest) {
  for (const char* text : {"", "G", "-1G", "1.5G", "1 G B", "24X", "24iB", "1025T", "2P",
                           "99999999999999999999", "1  G", " 1G", "1G ", "1e3"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(ForPeopleBytes, HasOneDecimalAtMost) {
  EXPECT_EQ(for_people_bytes(24 * kGiB), "24 GiB");
  EXPECT_EQ(for_people_bytes(512 * kMiB), "512 MiB");
  EXPECT_EQ(for_people_bytes(kGiB + kGiB / 2), "1.5 GiB");
  EXPECT_EQ(for_people_bytes(0), "0 B");
  EXPECT_EQ(for_people_bytes(1023), "1023 B");
  EXPECT_EQ(for_people_bytes(kMiB - 1), "1 MiB");
  EXPECT_EQ(for_people_bytes(-kGiB), "-1 GiB");
}

RC_GTEST_PROP(ForPeopleBytes, WholeUnitsReadBack, ()) {
  const auto count = *rc::gen::inRange<int64_t>(1, 1024);
  const auto unit = *rc::gen::element<int64_t>(1, 1024, kMiB, kGiB);
  RC_ASSERT(parse_size(for_people_bytes(count * unit)) == count * unit);
}

}  // namespace
}  // namespace cardhour
