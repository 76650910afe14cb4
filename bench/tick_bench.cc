// One tick of the loops that never stop, with few and with many accounts that do nothing: the
// cost must not grow with what exists.
#include <benchmark/benchmark.h>

#include "bench/fixture.h"

namespace cardhour::bench {
namespace {

void tick(benchmark::State& state) {
  PopulationOptions options;
  options.accounts = static_cast<int>(state.range(0));
  Fixture fixture(options);
  for (auto _ : state) {
    must(fixture.plane.settle.pass());
    must(fixture.plane.reconcile.pass());
    must(fixture.plane.operations.next_due());
  }
}
BENCHMARK(tick)
    ->ArgName("idle_accounts")
    ->Arg(10)
    ->Arg(100'000)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
}  // namespace cardhour::bench
