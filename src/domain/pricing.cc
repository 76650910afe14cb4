#include "domain/pricing.h"

namespace cardhour {

std::optional<Money> PriceBook::per_hour(const std::string& model, Mode mode) const {
  for (const Price& price : prices_) {
    if (price.mode != mode) continue;
    if (mode == Mode::no_gpu || price.model == model) return price.per_hour;
  }
  return std::nullopt;
}

}  // namespace cardhour
