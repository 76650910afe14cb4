// Which card for a task, and how fast it can be at most. Ranks and bounds come from published
// figures and the price book; nothing is measured. Pure.
#pragma once

#include <boost/describe/enum.hpp>
#include <optional>
#include <string>
#include <vector>

#include "domain/catalog.h"
#include "domain/estimate/memory.h"
#include "domain/estimate/training.h"
#include "domain/pricing.h"

namespace cardhour::estimate {

// Training looks at VRAM and interconnect, inference at bandwidth, images at VRAM first.
enum class CardTask { training, inference, images };
BOOST_DESCRIBE_ENUM(CardTask, training, inference, images)

struct CardsRequest {
  CardTask task = CardTask::inference;
  std::optional<MemoryRequest> need;
  double vram_bytes = 0;  // instead of `need`
  int cards_max = 1;
  bool continuous = false;
  std::optional<Money> rate_per_hour_max;  // of all cards
};

struct CardRank {
  const GpuModel* card = nullptr;
  int cards = 1;
  Fit fit = Fit::no;
  int utilisation_percent = 0;
  std::optional<Money> rate_per_hour;  // of all cards; absent: not for rent
  Text reason;
  std::vector<Text> warnings;
};
// What fits, best first: for rent before not, then by what the task looks at for the money.
std::vector<CardRank> rank_cards(const CardsRequest& request, const Catalog& catalog,
                                 const PriceBook& prices, const Currency& currency);
Text cards_summary(const std::vector<CardRank>& ranks);

// What a person should know before renting so many of it.
std::vector<Text> card_warnings(const GpuModel& card, int cards, bool continuous);
// When a card comes with less RAM than it has VRAM; nothing otherwise.
std::optional<Text> ram_warning(const GpuModel& card, int64_t ram_bytes);
// A warning of the catalog: "English / 中文".
Text catalog_text(const std::string& both);

// ---- bounds ----

struct ThroughputRequest {
  ModelShape model;
  Precision precision = Precision::fp16;
  Precision kv_precision = Precision::fp16;
  int context = 4096;
  int sequences = 1;
  int cards = 1;
};
Status check(const ThroughputRequest& request);

// Upper bounds in tokens a second: every step of decoding reads the weights of the active
// parameters once and the cache of each sequence; every token costs two operations a parameter.
struct Throughput {
  double decode = 0;  // of all sequences together
  double decode_per_sequence = 0;
  double prefill = 0;
  bool bandwidth_bound = true;  // what limits decoding
  std::vector<Formula> formulas;
};
Throughput throughput_bounds(const ThroughputRequest& request, const GpuModel& card);
Text throughput_sentence(const ThroughputRequest& request, const Throughput& bounds,
                         const GpuModel& card);

}  // namespace cardhour::estimate
