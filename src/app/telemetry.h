// Telemetry: what cards and instances do, for people: who holds what, readings, curves, and the
// operator's hand on the market. Reads the last look (gpu_watch.h) and the series; no request
// waits for the driver. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/deps.h"
#include "app/gpu_watch.h"
#include "app/inventory.h"
#include "domain/card_health.h"

namespace cardhour {

struct CardNow {
  CardView view;
  std::optional<CardSample> sample;  // of the last look; none: it was not seen
  std::optional<Timestamp> sampled_at;
  std::optional<int64_t> unowned_bytes;
  std::vector<CardCondition> conditions;
  std::vector<CardXid> xids;
};

// A process on a card, and whose it is.
struct ProcessNow {
  CardId card;
  int card_index = 0;
  GpuProcess process;
  std::optional<InstanceId> instance;  // the container, when it is an instance of ours
  std::string instance_name;
  std::string login;        // of the account that rents it
  bool is_expected = true;  // false: the card is not that instance's
};

struct Curves {
  SeriesKind kind = SeriesKind::card;
  Timestamp from;
  Timestamp to;
  Duration step;
  std::vector<SeriesPoint> points;  // a slot without one is a gap
};

struct Range {
  std::optional<Timestamp> from;  // an hour before `to` when absent
  std::optional<Timestamp> to;    // now when absent
  std::optional<Duration> step;
};

class Telemetry {
 public:
  Telemetry(const Deps& deps, GpuWatch& watch) : deps_(deps), watch_(watch) {}

  Result<std::vector<CardNow>> cards();
  // Of all cards, or of one instance's.
  Result<std::vector<ProcessNow>> processes();
  // The last row of the series; nullopt before the first look.
  std::optional<SeriesRow> latest(const SeriesId& id) const;
  // Curves of an instance that the caller may see (as found by Instances::get).
  Result<Curves> instance_curves(const InstanceId& id, const Range& range);
  // not_found: no such card.
  Result<Curves> card_curves(const CardId& id, const Range& range);

  // The operator's hand: out of the market until taken back. With `ends_run` whoever rents it is
  // stopped now and told; else the card leaves with the end of the present run.
  struct Removal {
    ConditionKind kind = ConditionKind::quarantine;  // or excluded
    std::string note;
    bool ends_run = false;
  };
  Status take_out(const Actor& by, const CardId& id, const Removal& removal);
  // Back into the market. conflict: it was not out.
  Status put_back(const Actor& by, const CardId& id);
  // A card by UUID, a unique beginning of it, or its number on the only host.
  Result<Card> find_card(const std::string& word);

  GpuWatch& watch() const { return watch_; }

 private:
  Result<Curves> curves(const SeriesId& id, const Range& range);

  Deps deps_;
  GpuWatch& watch_;
};

}  // namespace cardhour
