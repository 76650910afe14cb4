// The price book: what a card-hour costs by model and mode. A price is frozen into a
// segment when it opens. Pure.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/money.h"

namespace cardhour {

enum class Mode { on_demand, no_gpu };
BOOST_DESCRIBE_ENUM(Mode, on_demand, no_gpu)

// on_demand: per card-hour of that model. no_gpu: per hour, model is empty.
struct Price {
  std::string model;
  Mode mode = Mode::on_demand;
  Money per_hour;
};
BOOST_DESCRIBE_STRUCT(Price, (), (model, mode, per_hour))

class PriceBook {
 public:
  PriceBook() = default;
  explicit PriceBook(std::vector<Price> prices) : prices_(std::move(prices)) {}
  const std::vector<Price>& prices() const { return prices_; }
  // Absent: this model is not for rent in this mode.
  std::optional<Money> per_hour(const std::string& model, Mode mode) const;

 private:
  std::vector<Price> prices_;
};

}  // namespace cardhour
