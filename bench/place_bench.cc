// Where a request goes, among 100 000 cards in 12 500 hosts of which three in four are in use: the
// queries and the rule of a grant, without the rest of it.
#include <benchmark/benchmark.h>

#include "bench/fixture.h"

namespace cardhour::bench {
namespace {

constexpr int kHosts = 12'500;
constexpr int kCardsPerHost = 8;
constexpr int kDecisionsPerTransaction = 1'000;

// Grants most of the cards, so that hosts have from none to all of them free.
void grant_many(Fixture& fixture) {
  must(fixture.file->write([&](Tx& tx) -> Status {
    const InstanceId& instance = fixture.population.instances.front().id;
    for (int host = 0; host < kHosts; ++host) {
      const int busy = static_cast<int>(fixture.entropy.bits() % (kCardsPerHost + 1));
      for (int card = 0; card < busy; ++card) {
        const Card& row =
            fixture.population.cards[static_cast<size_t>(host * kCardsPerHost + card)];
        TRY(tx.hosts().insert_allocation(Allocation{fixture.entropy.id<AllocationId>(), row.uuid,
                                                    instance, fixture.clock.now(), std::nullopt}));
      }
    }
    return {};
  }));
}

void place(benchmark::State& state) {
  PopulationOptions options;
  options.hosts = kHosts;
  options.cards_per_host = kCardsPerHost;
  options.instances_per_account = 1;
  options.state = Observed::stopped;
  Fixture fixture(options);
  grant_many(fixture);
  double best = 0;
  for (auto _ : state) {
    const Stopwatch stopwatch;
    must(fixture.file->read([&](Tx& tx) -> Status {
      for (int i = 0; i < kDecisionsPerTransaction; ++i) {
        const PlacementRequest wanted{1 + i % kCardsPerHost, 80 * kGiB, std::nullopt};
        TRY_ASSIGN(const auto space, tx.hosts().best_space(SpaceWanted{wanted, "RTX4090", 0}));
        CHECK(space.has_value(), "there is a place for every request");
        benchmark::DoNotOptimize(cardhour::place(wanted, {*space}));
      }
      return {};
    }));
    best = std::max(best, kDecisionsPerTransaction / stopwatch.seconds());
  }
  state.counters["best_per_s"] = best;
}
BENCHMARK(place)->Unit(benchmark::kMillisecond)->Iterations(50)->UseRealTime();

}  // namespace
}  // namespace cardhour::bench
