#include "adapters/sim/sim_shells.h"

#include "adapters/sim/sim_clock.h"
#include "adapters/sim/sim_engine.h"
#include "tests/conformance/shell_conformance.h"

namespace cardhour {
namespace {

class SimShellWorld final : public ShellWorld {
 public:
  SimShellWorld() {
    EXPECT_TRUE(engine_.ensure_created(spec_, {}).has_value());
    EXPECT_TRUE(engine_.ensure_started(spec_, {}).has_value());
    clock_.advance(seconds(5));
  }
  Shells& shells() override { return shells_; }
  InstanceId running() override { return spec_.id; }
  InstanceId not_there() override { return make_id<InstanceTag>(2ULL); }

 private:
  SimClock clock_;
  SimEngine engine_{clock_, {SimHost{}}};
  EngineSpec spec_{
      .id = make_id<InstanceTag>(1ULL), .image = "base", .ipv4 = "10.0.0.1", .ssh_port = 20001};
  SimShells shells_{engine_};
};

INSTANTIATE_TEST_SUITE_P(Sim, ShellConformance,
                         testing::Values(ShellAdapter{
                             "sim", [] { return std::make_unique<SimShellWorld>(); }}),
                         shell_adapter_name);

TEST(SimShells, SayThatTheyAreSimulated) {
  SimShellWorld world;
  ShellReader reader(world.shells().open(world.running(), {}));
  EXPECT_TRUE(reader.sees("SIMULATED"));
}

}  // namespace
}  // namespace cardhour
