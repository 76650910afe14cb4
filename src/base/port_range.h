// PortRange: TCP ports of the host, as people write them: "22000-29999". Invariant of what
// parse_port_range gives: 1024 <= first <= last <= 65535. Thread-safe: plain values.
#pragma once

#include <string_view>

#include "base/error.h"

namespace cardhour {

struct PortRange {
  int first = 22'000;
  int last = 29'999;

  bool operator==(const PortRange&) const = default;
};

Result<PortRange> parse_port_range(std::string_view typed);

}  // namespace cardhour
