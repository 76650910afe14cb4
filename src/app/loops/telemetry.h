// TelemetryLoop: every observe_interval one look at what cards and instances do. It keeps the
// series, weighs the health of cards (domain/card_health.h), and ends runs whose card failed,
// charged to the last look at which the card was well. A look that finds nothing new writes
// nothing to the database. One thread in production; the simulation calls it.
#pragma once

#include <map>
#include <vector>

#include "app/deps.h"
#include "app/gpu_watch.h"
#include "app/inventory.h"
#include "domain/card_health.h"

namespace cardhour {

class TelemetryLoop {
 public:
  TelemetryLoop(const Deps& deps, GpuWatch& watch) : deps_(deps), watch_(watch) {}
  // The first failure; what could be seen was noted.
  Status pass();
  // Forgets the curves of instances that are gone for good. Once an hour or so.
  Status tidy();

 private:
  // What is known of a card between looks. Lost with the process, which costs one look.
  struct Track {
    CardSample before;
    bool was_seen = false;
    int faults_in_a_row = 0;
    std::optional<Timestamp> last_well;
    std::vector<int64_t> xids;  // not yet in the database
  };
  struct Finding {
    Card card;
    CardVerdict verdict;
    std::optional<CardCondition> quarantine;  // as it is
    std::optional<CardCondition> unfit;
  };

  void look_at_cards(GpuLook& look);
  void track(const GpuLook& look, const InventoryRows& rows);
  std::vector<Finding> weigh(const GpuLook& look, const InventoryRows& rows,
                             const std::vector<CardCondition>& conditions);
  bool is_news(const Finding& finding) const;
  Status note(Tx& tx, const Finding& finding, const GpuLook& look);
  Status note_xids(Tx& tx, const Card& card, Timestamp now);
  Status note_driver(const GpuLook& look);
  Status end_run_on(Tx& tx, const Finding& finding, Timestamp now);

  void measure_cards(GpuLook& look, const InventoryRows& rows);
  Status measure_instances(GpuLook& look, const InventoryRows& rows);
  Status keep(const GpuLook& look);

  Deps deps_;
  GpuWatch& watch_;
  std::map<CardId, Track> tracks_;
  std::map<InstanceId, EngineUsage> usage_before_;
  std::optional<Timestamp> usage_at_;
  std::optional<Timestamp> sampled_before_;
  std::map<CardId, CardReading> readings_before_;
  bool told_of_silence_ = false;
};

// Ends the run on a card that failed, at `end_of_billing`, and tells its renter. Only a running
// instance: a start finds out by itself.
Status end_run_on_card(Tx& tx, const Deps& deps, const CardId& card, const std::string& reason,
                       const std::string& actor, Timestamp end_of_billing, Timestamp now);

}  // namespace cardhour
