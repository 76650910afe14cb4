#include "adapters/sim/sim_engine.h"

#include <gtest/gtest.h>

#include "adapters/sim/faults.h"
#include "adapters/sim/sim_clock.h"
#include "adapters/sim/sim_probe.h"
#include "tests/conformance/engine_conformance.h"

namespace cardhour {
namespace {

ProbedCard card(int number) {
  return ProbedCard{.uuid = {"GPU-" + std::to_string(number)},
                    .name = "NVIDIA GeForce RTX 4090 (SIMULATED)",
                    .pci_address = "0000:0" + std::to_string(number) + ":00.0",
                    .index = number,
                    .memory_total_bytes = 24 * kGiB,
                    .memory_used_bytes = 0};
}

EngineCard given(const ProbedCard& card) {
  return {card.uuid, card.pci_address, card.name, *card.memory_total_bytes, true};
}

EngineSpec spec_of(int number) {
  return {.id = make_id<InstanceTag>(static_cast<unsigned long long>(number)),
          .image = "base",
          .data_disk_bytes = kGiB,
          .ipv4 = "10.0.0." + std::to_string(number),
          .ssh_port = 20000 + number};
}

class SimEngineTest : public testing::Test {
 protected:
  SimEngine make(SimEngineOptions options = {}) {
    return SimEngine(clock_, {SimHost{.cards = {card(1), card(2)}}}, std::move(options));
  }
  // Created and started at the present.
  EngineSpec started(SimEngine& engine, int number = 1, EngineShape shape = {}) {
    EngineSpec spec = spec_of(number);
    EXPECT_TRUE(engine.ensure_created(spec, {}).has_value());
    EXPECT_TRUE(engine.ensure_started(spec, shape).has_value());
    return spec;
  }
  EngineSpec running(SimEngine& engine, int number = 1, EngineShape shape = {}) {
    EngineSpec spec = started(engine, number, std::move(shape));
    clock_.advance(seconds(2));
    return spec;
  }
  static EngineStatus status(SimEngine& engine, const EngineSpec& spec) {
    return engine.find(spec.id).value().value().status;
  }

  SimClock clock_;
};

TEST_F(SimEngineTest, AStartIsBusyThenRunningThenAnswers) {
  SimEngine engine = make();
  const EngineSpec spec = started(engine);
  EXPECT_EQ(status(engine, spec), EngineStatus::busy);
  clock_.advance(milliseconds(600));
  EXPECT_EQ(status(engine, spec), EngineStatus::running);
  clock_.advance(milliseconds(1'249));
  EXPECT_FALSE(*engine.ssh_answers(spec, seconds(5)));
  clock_.advance(milliseconds(1));
  EXPECT_TRUE(*engine.ssh_answers(spec, seconds(5)));
}

TEST_F(SimEngineTest, AStopDuringAStartIsAnsweredWellAndLoses) {
  SimEngine engine = make();
  const EngineSpec spec = started(engine);
  EXPECT_TRUE(engine.force_stop(spec.id).has_value());
  EXPECT_TRUE(engine.shut_down(spec.id, seconds(30)).has_value());
  EXPECT_FALSE(engine.ensure_removed(spec.id).has_value());
  clock_.advance(seconds(1));
  EXPECT_EQ(status(engine, spec), EngineStatus::running);
  EXPECT_TRUE(engine.force_stop(spec.id).has_value());
  EXPECT_EQ(status(engine, spec), EngineStatus::stopped);
}

TEST_F(SimEngineTest, AStopMayTakeTimeAndRefusesAStartMeanwhile) {
  SimEngine engine = make({.stop_time = seconds(2)});
  const EngineSpec spec = running(engine);
  EXPECT_TRUE(engine.shut_down(spec.id, seconds(30)).has_value());
  EXPECT_EQ(status(engine, spec), EngineStatus::busy);
  EXPECT_EQ(engine.ensure_started(spec, {}).error().code, ErrorCode::engine_failed);
  clock_.advance(seconds(2));
  EXPECT_EQ(status(engine, spec), EngineStatus::stopped);
  EXPECT_TRUE(engine.ensure_started(spec, {}).has_value());
}

TEST_F(SimEngineTest, AKillDuringACreationLeavesAHuskThatTheNextOneRemoves) {
  FaultPlan plan(1);
  SimEngine engine = make({.midway = plan.midway()});
  plan.force(Fault::crash_inside, "midway.ensure_created");
  const EngineSpec spec = spec_of(1);
  EXPECT_THROW(static_cast<void>(engine.ensure_created(spec, {})), Crash);
  EXPECT_EQ(*engine.find(spec.id), std::nullopt);
  EXPECT_TRUE(engine.list()->empty());
  EXPECT_FALSE(engine.ensure_started(spec, {}).has_value());
  EXPECT_EQ(engine.leftovers(), std::vector<std::string>{"husk " + spec.id.text});

  EXPECT_TRUE(engine.ensure_created(spec, {}).has_value());
  EXPECT_EQ(status(engine, spec), EngineStatus::stopped);
  EXPECT_TRUE(engine.leftovers().empty());
}

TEST_F(SimEngineTest, AKillDuringARemovalLeavesADiskThatTheNextOneRemoves) {
  FaultPlan plan(1);
  SimEngine engine = make({.midway = plan.midway()});
  const EngineSpec spec = spec_of(1);
  EXPECT_TRUE(engine.ensure_created(spec, {}).has_value());
  plan.force(Fault::crash_inside, "midway.ensure_removed");
  EXPECT_THROW(static_cast<void>(engine.ensure_removed(spec.id)), Crash);
  EXPECT_EQ(*engine.find(spec.id), std::nullopt);
  EXPECT_FALSE(engine.leftovers().empty());
  EXPECT_TRUE(engine.ensure_removed(spec.id).has_value());
  EXPECT_TRUE(engine.leftovers().empty());
}

TEST_F(SimEngineTest, AShutdownMayHangAndLeavesItRunning) {
  SimEngine engine = make();
  const EngineSpec spec = running(engine);
  engine.set_shutdown_hangs(spec.id, true);
  EXPECT_EQ(engine.shut_down(spec.id, seconds(30)).error().code, ErrorCode::engine_failed);
  EXPECT_EQ(status(engine, spec), EngineStatus::running);
  EXPECT_TRUE(engine.force_stop(spec.id).has_value());
  EXPECT_EQ(status(engine, spec), EngineStatus::stopped);
}

TEST_F(SimEngineTest, ADeadGuestGivesNoBanner) {
  SimEngine engine = make();
  const EngineSpec spec = started(engine);
  engine.kill_guest(spec.id);
  clock_.advance(hours(1));
  EXPECT_FALSE(*engine.ssh_answers(spec, seconds(5)));
  EXPECT_FALSE(engine.shut_down(spec.id, seconds(30)).has_value());
}

TEST_F(SimEngineTest, CardsAreNotExclusiveButMustBeThere) {
  SimEngine engine = make();
  const EngineShape shape{.cards = {given(card(1))}};
  running(engine, 1, shape);
  running(engine, 2, shape);
  EXPECT_EQ(engine.running().size(), 2u);
  const EngineSpec third = spec_of(3);
  EXPECT_TRUE(engine.ensure_created(third, {}).has_value());
  engine.remove_card(card(2).uuid);
  EXPECT_EQ(engine.ensure_started(third, {.cards = {given(card(2))}}).error().code,
            ErrorCode::engine_failed);
  EXPECT_EQ(status(engine, third), EngineStatus::stopped);
}

TEST_F(SimEngineTest, CanShowTheWrongCards) {
  SimEngine engine = make();
  const EngineSpec spec = running(engine, 1, {.cards = {given(card(1))}});
  engine.set_memory_used(card(1).uuid, 5 * kGiB);
  const auto cards = engine.visible_cards(spec.id).value();
  ASSERT_EQ(cards.size(), 1u);
  EXPECT_EQ(cards[0].memory_used_bytes, 5 * kGiB);
  engine.set_card_sight(spec.id, CardSight::one_extra);
  EXPECT_EQ(engine.visible_cards(spec.id)->size(), 2u);
  engine.set_card_sight(spec.id, CardSight::one_missing);
  EXPECT_TRUE(engine.visible_cards(spec.id)->empty());
}

TEST_F(SimEngineTest, APortOrAddressInUseFailsTheStart) {
  SimEngine engine = make();
  engine.take_port(20001);
  EXPECT_FALSE(*engine.port_is_free(20001));
  EngineSpec spec = spec_of(1);
  EXPECT_TRUE(engine.ensure_created(spec, {}).has_value());
  EXPECT_EQ(engine.ensure_started(spec, {}).error().code, ErrorCode::no_capacity);

  const EngineSpec other = running(engine, 2);
  EngineSpec twin = spec_of(3);
  twin.ipv4 = other.ipv4;
  EXPECT_TRUE(engine.ensure_created(twin, {}).has_value());
  EXPECT_EQ(engine.ensure_started(twin, {}).error().code, ErrorCode::engine_failed);
}

TEST_F(SimEngineTest, TheWorldOutsideActsBehindOurBack) {
  SimEngine engine = make();
  const EngineSpec a = running(engine, 1);
  const EngineSpec b = running(engine, 2);
  const EngineSpec c = running(engine, 3);
  EXPECT_TRUE(engine.stop_behind_our_back(a.id));
  EXPECT_FALSE(engine.stop_behind_our_back(a.id));
  EXPECT_EQ(status(engine, a), EngineStatus::stopped);
  EXPECT_TRUE(engine.poweroff_inside(b.id));
  EXPECT_EQ(status(engine, b), EngineStatus::stopped);
  EXPECT_TRUE(engine.delete_behind_our_back(c.id));
  EXPECT_EQ(*engine.find(c.id), std::nullopt);
}

TEST_F(SimEngineTest, ASilentEngineAnswersNothingAndRunsOn) {
  SimEngine engine = make();
  const EngineSpec spec = running(engine);
  const std::string run = engine.find(spec.id).value()->run;
  engine.set_silent(true);
  EXPECT_EQ(engine.hosts().error().code, ErrorCode::engine_unavailable);
  EXPECT_EQ(engine.find(spec.id).error().code, ErrorCode::engine_unavailable);
  EXPECT_EQ(engine.force_stop(spec.id).error().code, ErrorCode::engine_unavailable);
  engine.set_silent(false);
  EXPECT_EQ(status(engine, spec), EngineStatus::running);
  EXPECT_EQ(engine.find(spec.id).value()->run, run);
}

TEST_F(SimEngineTest, ARebootEndsEveryRunAndStartsNothing) {
  SimEngine engine = make();
  const EngineSpec spec = running(engine, 1);
  const EngineSpec starting = started(engine, 2);
  engine.reboot_host();
  clock_.advance(hours(1));
  EXPECT_EQ(status(engine, spec), EngineStatus::stopped);
  EXPECT_EQ(status(engine, starting), EngineStatus::stopped);
  EXPECT_TRUE(engine.running().empty());
}

TEST_F(SimEngineTest, ANoticeIsGoneWithTheRun) {
  SimEngine engine = make();
  const EngineSpec spec = running(engine);
  EXPECT_TRUE(engine.put_notice(spec.id, "{}").has_value());
  EXPECT_EQ(engine.running().at(0).notice, "{}");
  EXPECT_TRUE(engine.force_stop(spec.id).has_value());
  EXPECT_TRUE(engine.ensure_started(spec, {}).has_value());
  EXPECT_EQ(engine.running().at(0).notice, "");
}

TEST_F(SimEngineTest, WaitsForTheBannerOnlyWhenToldHow) {
  Duration waited;
  SimEngine engine = make({.wait = [&](Duration time) {
    waited = waited + time;
    clock_.advance(time);
  }});
  const EngineSpec spec = started(engine);
  EXPECT_FALSE(*engine.ssh_answers(spec, milliseconds(500)));
  EXPECT_EQ(waited, milliseconds(500));
  EXPECT_TRUE(*engine.ssh_answers(spec, seconds(5)));
  EXPECT_EQ(waited, milliseconds(1'850));
}

TEST_F(SimEngineTest, TheProbeTellsOfTheSameCards) {
  SimEngine engine = make();
  SimProbe probe(engine);
  EXPECT_EQ(probe.probe()->cards.size(), 2u);
  EXPECT_TRUE(probe.probe()->simulated);
  engine.set_card_fault(card(1).uuid, "GPU_IS_LOST");
  EXPECT_EQ(probe.probe()->cards[0].fault, "GPU_IS_LOST");
  engine.remove_card(card(1).uuid);
  EXPECT_EQ(probe.probe()->cards.size(), 1u);
  EXPECT_EQ(engine.hosts()->at(0).gpu_pci.size(), 1u);
  probe.set_refuses(true);
  EXPECT_FALSE(probe.probe().has_value());
}

TEST(SimEntropyTest, FollowsFromItsSeed) {
  SimEntropy a(7);
  SimEntropy b(7);
  SimEntropy c(8);
  EXPECT_EQ(a.id<InstanceId>(), b.id<InstanceId>());
  EXPECT_NE(a.bits(), c.bits());
  EXPECT_NE(a.bits(), a.bits());
}

TEST(SimClockTest, NeverRunsBackwards) {
  SimClock clock(Timestamp{1000});
  clock.advance(seconds(1));
  EXPECT_EQ(clock.now(), Timestamp{2000});
  clock.set(Timestamp{2000});
  EXPECT_DEATH(clock.set(Timestamp{1999}), "backwards");
  EXPECT_EQ(to_rfc3339(SimClock().now()), "2026-12-01T08:00:00.000Z");
}

class SimWorld final : public EngineWorld {
 public:
  explicit SimWorld(SimEngineOptions options = {})
      : sim_(clock_, {SimHost{.cards = {card(1)}}}, std::move(options)) {}
  Engine& engine() override { return sim_; }
  EngineSpec fresh_spec() override { return spec_of(++specs_); }
  GuestIdentity identity(const EngineSpec& spec) override {
    return {.hostname = spec.id.text, .authorized_keys = {"ssh-ed25519 AAAA"}};
  }
  EngineShape shape() override {
    return {.millicores = 1000, .memory_bytes = kGiB, .cards = {given(card(1))}};
  }
  void pass(Duration time) override { clock_.advance(time); }
  void add_foreign() override { sim_.add_foreign("somebody"); }
  bool foreign_runs() override { return sim_.foreign() == std::vector<std::string>{"somebody"}; }

 private:
  SimClock clock_;
  SimEngine sim_;
  int specs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(
    Sim, EngineConformance,
    testing::Values(EngineAdapter{"prompt", [] { return std::make_unique<SimWorld>(); }},
                    EngineAdapter{"slow_to_stop",
                                  [] {
                                    return std::make_unique<SimWorld>(
                                        SimEngineOptions{.stop_time = seconds(2)});
                                  }}),
    engine_adapter_name);

}  // namespace
}  // namespace cardhour
