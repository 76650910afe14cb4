// SimProbe: the GpuProbe over the cards of a SimEngine, so that driver and engine tell of
// the same hardware. Scripted: it can be made to fail as a driver that refuses.
// Thread-safe.
#pragma once

#include <atomic>

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
  void set_refuses(bool refuses) { refuses_ = refuses; }

 private:
  const SimEngine& engine_;
  std::atomic<bool> refuses_ = false;
};

}  // namespace cardhour
