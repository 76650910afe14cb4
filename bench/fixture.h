// Fixture: a control plane on a real database file, a clock that stands still, and no threads;
// and a Store in between that notes how long each transaction held the writer.
// For in-process benchmarks. Not thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "adapters/sim/sim_clock.h"
#include "adapters/sim/sim_engine.h"
#include "adapters/sim/sim_entropy.h"
#include "adapters/sim/sim_probe.h"
#include "adapters/sql/sql_store.h"
#include "app/control_plane.h"
#include "bench/population.h"

namespace cardhour::bench {

// A directory that is removed at the end: below $CARDHOUR_BENCH_DIR, or the temporary one.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class TimedStore final : public Store {
 public:
  explicit TimedStore(Store& inner) : inner_(inner) {}

  Status write(const std::function<Status(Tx&)>& body) override;
  Status read(const std::function<Status(Tx&)>& body) override { return inner_.read(body); }

  // The share of transactions that held the writer no longer; 1.0: the longest.
  double hold_ms(double share) const;
  int writes() const { return static_cast<int>(holds_ms_.size()); }

 private:
  Store& inner_;
  std::vector<double> holds_ms_;
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

Catalog catalog();
std::vector<Price> default_prices(const Catalog& catalog);

void must(const Status& status);
template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().what.en);
  return std::move(*result);
}

struct Fixture {
  explicit Fixture(const PopulationOptions& options);

  Scratch scratch;
  SimClock clock;
  SimEntropy entropy{1};
  SimEngine engine{clock, {SimHost{}}};
  SimProbe probe{engine};
  Policy policy;
  Catalog models = catalog();
  NetworkPlan network;
  std::unique_ptr<SqlStore> file = must(open_sqlite(scratch.file("cardhour.db")));
  TimedStore store{*file};
  ControlPlane plane{
      Deps{store, engine, clock, entropy, probe, policy, models, network, SealKey{}}};
  Population population;
};

}  // namespace cardhour::bench
