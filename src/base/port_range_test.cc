#include "base/port_range.h"

#include <gtest/gtest.h>

namespace cardhour {
namespace {

TEST(ParsePortRange, IsFromAndTo) {
  EXPECT_EQ(parse_port_range("22000-29999"), (PortRange{}));
  EXPECT_EQ(parse_port_range("1024-1024"), (PortRange{1'024, 1'024}));
  EXPECT_EQ(parse_port_range("40000-65535"), (PortRange{40'000, 65'535}));
}

TEST(ParsePortRange, RefusesTheRest) {
  for (const char* typed :
       {"", "-", "22000", "22000-", "-22000", "22000-21999", "80-90", "1023-2000", "60000-65536",
        "22000-x", "22000 - 23000", "22000-23000-24000", "+22000-23000", "0x55f0-23000",
        "99999999999-23000"}) {
    const auto range = parse_port_range(typed);
    ASSERT_FALSE(range) << typed;
    EXPECT_FALSE(range.error().what.zh.empty());
    EXPECT_FALSE(range.error().next.en.empty());
  }
}

}  // namespace
}  // namespace cardhour
