// SimProbe: the GpuProbe over the cards of a SimEngine, so that driver and engine tell of
// the same hardware. Scripted: it can be made to fail as a driver that refuses.
// Thread-safe.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "adapters/sim/sim_engine.h"
#include "ports/gpu_probe.h"

namespace cardhour {

class SimProbe final : public GpuProbe {
 public:
  explicit SimProbe(const SimEngine& engine) : engine_(engine) {}

  Result<ProbedGpus> probe() override {
    if (refuses_) {
      return fail(ErrorCode::engine_failed,
                  Text{"the simulated driver refuses", "模拟驱动拒绝访问"});
    }
    ProbedGpus gpus{.simulated = true, .cards = engine_.cards()};
    if (gpus.cards.empty()) return gpus;
    gpus.driver_version = "550.54.14-SIMULATED";
    gpus.cuda_version = "12.4";
    return gpus;
  }
  // What the engine knows of the cards; the rest is what was set, or idle.
  Result<GpuSample> sample() override {
    TRY_ASSIGN(const ProbedGpus gpus, probe());
    const std::lock_guard lock(mutex_);
    GpuSample sample{.simulated = true, .cards = {}, .xids = std::exchange(xids_, {})};
    for (const ProbedCard& card : gpus.cards) {
      CardSample one;
      if (const auto set = samples_.find(card.uuid); set != samples_.end()) one = set->second;
      one.uuid = card.uuid.text;
      one.fault = card.fault;
      if (!card.fault.empty()) one.reading = {};
      if (card.fault.empty()) {
        one.reading.memory_total_bytes = card.memory_total_bytes;
        one.reading.memory_used_bytes = card.memory_used_bytes;
        if (!one.reading.gpu_percent) one.reading.gpu_percent = 0;
      }
      sample.cards.push_back(std::move(one));
    }
    return sample;
  }
  void set_refuses(bool refuses) { refuses_ = refuses; }
  // Readings and processes of a card from now on; fault and memory stay the engine's.
  void set_sample(const CardId& card, CardSample sample) {
    const std::lock_guard lock(mutex_);
    samples_[card] = std::move(sample);
  }
  // The driver reports an error, once.
  void report(const CardId& card, int64_t code) {
    const std::lock_guard lock(mutex_);
    xids_.push_back({card.text, code});
  }

 private:
  const SimEngine& engine_;
  std::atomic<bool> refuses_ = false;
  std::mutex mutex_;
  std::map<CardId, CardSample> samples_;
  std::vector<XidReport> xids_;
};

}  // namespace cardhour
