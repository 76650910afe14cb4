// Diagnosis: what a good colleague would say about an instance that has no card, no memory left,
// or is slow, in the order in which he would look. Rules over curves and facts seen from outside;
// each finding says what was measured, what to do about it, and where to read more. What is not
// known is never evidence. Pure.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "domain/card_health.h"
#include "domain/series.h"
#include "domain/telemetry.h"

namespace cardhour {

enum class FindingWeight {
  problem,  // it cannot work like this
  advice,   // it works worse than it could
};
BOOST_DESCRIBE_ENUM(FindingWeight, problem, advice)

struct Finding {
  std::string code;  // "no_gpu_process", ...; also the anchor in docs/diagnosis.md
  FindingWeight weight = FindingWeight::advice;
  Text what;
  Text evidence;  // the numbers
  Text remedy;
};

// One of its cards.
struct DiagnosedCard {
  int index = 0;
  CardSample sample;                    // of the last look
  std::vector<SeriesPoint> points;      // of the card, in order
  std::vector<std::string> conditions;  // reasons
  std::vector<CardXid> xids;            // since the run began
};

struct DiagnosisInput {
  bool runs = false;
  bool wants_cards = false;  // not in no-GPU mode
  bool driver_answers = true;
  int64_t memory_bytes = 0;         // RAM of its shape
  std::vector<SeriesPoint> points;  // of the instance, in order, over `window`
  Duration window;                  // what `points` may cover
  std::vector<DiagnosedCard> cards;
};

// Problems first, then in the order of the rules.
std::vector<Finding> diagnose(const DiagnosisInput& input);

// A line through the known values of a column: units per hour, and how well it fits (0 to 1).
// nullopt: fewer than 30 of them, or no time between them.
struct Trend {
  double per_hour = 0;
  double fit = 0;
  double last = 0;
};
std::optional<Trend> trend_of(const std::vector<SeriesPoint>& points, size_t column);

}  // namespace cardhour
