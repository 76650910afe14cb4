#include "base/port_range.h"

#include <charconv>

namespace cardhour {
namespace {

constexpr int kFirst = 1'024;  // below are the host's own services
constexpr int kLast = 65'535;

bool read_port(std::string_view typed, int& port) {
  const auto [end, wrong] = std::from_chars(typed.data(), typed.data() + typed.size(), port);
  return wrong == std::errc{} && end == typed.data() + typed.size();
}

}  // namespace

Result<PortRange> parse_port_range(std::string_view typed) {
  PortRange range;
  const size_t dash = typed.find('-');
  const bool read = dash != std::string_view::npos &&
                    read_port(typed.substr(0, dash), range.first) &&
                    read_port(typed.substr(dash + 1), range.last);
  if (read && range.first >= kFirst && range.last <= kLast && range.first <= range.last) {
    return range;
  }
  return fail(ErrorCode::invalid_argument,
              text("\"{}\" is not a range of ports", "“{}”不是端口范围", typed.substr(0, 40)),
              text("write FROM-TO between {} and {}, e.g. 22000-29999",
                   "请写成 FROM-TO，介于 {} 与 {} 之间，如 22000-29999", kFirst, kLast));
}

}  // namespace cardhour
