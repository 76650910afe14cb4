#include "tests/telemetry/watching_world.h"

#include "base/check.h"

namespace cardhour {
namespace {

WorldOptions calm(SeriesStore* series) {
  WorldOptions options;
  options.series = series;
  options.engine_start_time = Duration{};
  options.boot_time = seconds(2);
  options.ssh_wait_max = seconds(2);
  options.looks_are_exact = true;
  return options;
}

template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().what.en);
  return std::move(*result);
}

}  // namespace

WatchingWorld::WatchingWorld() : world_(calm(&series_)), renter_(world_.add_renter("renter1")) {
  must(plane().wallet.top_up(world_.admin(), renter_.account, Money{1'000'000'000}, "", {}));
}

Instance WatchingWorld::rent(int cards) {
  RentRequest request;
  request.shape = {Mode::on_demand, "4090", cards};
  const Instance made = must(plane().instances.rent(renter_, request, {}));
  pass(seconds(30));
  const Instance ready = instance(made.id);
  EXPECT_EQ(ready.observed, Observed::running);
  return ready;
}

Instance WatchingWorld::instance(const InstanceId& id) {
  return must(plane().instances.get(renter_, id.text)).instance;
}

std::vector<CardId> WatchingWorld::cards_of(const InstanceId& id) {
  return must(plane().instances.get(renter_, id.text)).cards;
}

std::vector<Segment> WatchingWorld::segments() {
  std::vector<Segment> rows;
  const Status read = world_.store().read([&](Tx& tx) -> Status {
    TRY_ASSIGN(rows, tx.ledger().segments({renter_.account, {}, {}, {}}));
    return {};
  });
  CHECK(read.has_value(), "segments can be read");
  return rows;
}

std::vector<Event> WatchingWorld::events(const std::string& kind) {
  std::vector<Event> found;
  const Status read = world_.store().read([&](Tx& tx) -> Status {
    TRY_ASSIGN(const auto all, tx.events().after(0, EventFilter{}, 10'000));
    for (const Event& event : all) {
      if (event.kind == kind) found.push_back(event);
    }
    return {};
  });
  CHECK(read.has_value(), "events can be read");
  return found;
}

std::vector<CardCondition> WatchingWorld::conditions() {
  std::vector<CardCondition> rows;
  const Status read = world_.store().read([&](Tx& tx) -> Status {
    TRY_ASSIGN(rows, tx.card_health().conditions());
    return {};
  });
  CHECK(read.has_value(), "conditions can be read");
  return rows;
}

Money WatchingWorld::wallet() { return must(plane().wallet.view(renter_.account)).available; }

}  // namespace cardhour
