#include "adapters/sim/faults.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "adapters/sim/sim_clock.h"
#include "adapters/sim/sim_engine.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

EngineSpec spec() { return {.id = make_id<InstanceTag>(1), .image = "base", .ssh_port = 20001}; }

// A store that knows only whether its last transaction was committed.
class CountingStore final : public Store {
 public:
  Status write(const std::function<Status(Tx&)>& body) override { return run(body); }
  Status read(const std::function<Status(Tx&)>& body) override { return run(body); }
  int begun = 0;
  int committed = 0;

 private:
  class NoTx final : public Tx {
   public:
    AccountRepository& accounts() override { return none<AccountRepository>(); }
    HostRepository& hosts() override { return none<HostRepository>(); }
    InstanceRepository& instances() override { return none<InstanceRepository>(); }
    LedgerRepository& ledger() override { return none<LedgerRepository>(); }
    EventRepository& events() override { return none<EventRepository>(); }
    KeyRepository& keys() override { return none<KeyRepository>(); }
    CardHealthRepository& card_health() override { return none<CardHealthRepository>(); }
    IdleRepository& idle() override { return none<IdleRepository>(); }
    RestoreRepository& restores() override { return none<RestoreRepository>(); }

   private:
    template <class T>
    T& none() {
      check_failed(__FILE__, __LINE__, "none", "this store has no rows");
    }
  };
  Status run(const std::function<Status(Tx&)>& body) {
    ++begun;
    NoTx tx;
    const Status status = body(tx);
    if (status) ++committed;
    return status;
  }
};

class FaultyEngineTest : public testing::Test {
 protected:
  bool exists() { return engine_.find(spec().id)->has_value(); }
  Status create() { return faulty_.ensure_created(spec(), {}); }

  SimClock clock_;
  SimEngine engine_{clock_, {SimHost{}}};
  FaultPlan plan_{1};
  FaultyEngine faulty_{engine_, plan_};
};

TEST_F(FaultyEngineTest, PassesEverythingOnByDefault) {
  EXPECT_TRUE(create().has_value());
  EXPECT_TRUE(exists());
  EXPECT_TRUE(faulty_.hosts().has_value());
  EXPECT_TRUE(plan_.hits().empty());
  EXPECT_EQ(plan_.calls("engine.ensure_created"), 1);
}

TEST_F(FaultyEngineTest, ErrorsWithoutEffect) {
  for (const auto& [fault, code] :
       {std::pair{Fault::unavailable, ErrorCode::engine_unavailable},
        std::pair{Fault::failed, ErrorCode::engine_failed},
        std::pair{Fault::lost_request, ErrorCode::engine_unavailable}}) {
    plan_.force(fault, "engine.ensure_created");
    const Status status = create();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, code) << enum_text(fault);
    EXPECT_FALSE(exists());
    EXPECT_EQ(plan_.hits(fault), 1);
  }
  EXPECT_TRUE(create().has_value());
}

TEST_F(FaultyEngineTest, ALostAnswerHasItsEffect) {
  plan_.force(Fault::lost_answer, "engine.ensure_created");
  EXPECT_EQ(create().error().code, ErrorCode::engine_unavailable);
  EXPECT_TRUE(exists());
}

TEST_F(FaultyEngineTest, CrashesBeforeOrAfterTheEffect) {
  plan_.force(Fault::crash_before, "engine.ensure_created");
  EXPECT_THROW(static_cast<void>(create()), Crash);
  EXPECT_FALSE(exists());
  plan_.force(Fault::crash_after, "engine.ensure_created");
  EXPECT_THROW(static_cast<void>(create()), Crash);
  EXPECT_TRUE(exists());
}

TEST_F(FaultyEngineTest, AForcedFaultStrikesTheNthCallOnly) {
  plan_.force(Fault::failed, "engine.hosts", 3);
  EXPECT_TRUE(faulty_.hosts().has_value());
  EXPECT_TRUE(faulty_.images().has_value());
  EXPECT_TRUE(faulty_.hosts().has_value());
  EXPECT_FALSE(faulty_.hosts().has_value());
  EXPECT_TRUE(faulty_.hosts().has_value());
  EXPECT_EQ(plan_.hits(), (std::map<std::string, int>{{"engine.hosts failed", 1}}));
}

TEST_F(FaultyEngineTest, TwoForcedFaultsStrikeOneAfterTheOther) {
  plan_.force(Fault::failed, "");
  plan_.force(Fault::unavailable, "");
  EXPECT_EQ(faulty_.hosts().error().code, ErrorCode::engine_failed);
  EXPECT_EQ(faulty_.hosts().error().code, ErrorCode::engine_unavailable);
  EXPECT_TRUE(faulty_.hosts().has_value());
}

TEST_F(FaultyEngineTest, SlowAndHungCallsTakeTheirTime) {
  plan_.set_wait([this](Duration by) { clock_.advance(by); });
  const Timestamp begin = clock_.now();
  plan_.force(Fault::slow, "engine.ensure_created");
  EXPECT_TRUE(create().has_value());
  EXPECT_EQ(clock_.now() - begin, kSlowCall);
  plan_.force(Fault::hung, "engine.ensure_removed");
  EXPECT_EQ(faulty_.ensure_removed(spec().id).error().code, ErrorCode::engine_unavailable);
  EXPECT_EQ(clock_.now() - begin, kSlowCall + kHungCall);
  EXPECT_FALSE(exists()) << "it was done all the same";
}

TEST_F(FaultyEngineTest, NothingStrikesOrCountsWhilePaused) {
  plan_.force(Fault::failed, "engine.hosts", 2);
  EXPECT_TRUE(faulty_.hosts().has_value());
  plan_.set_paused(true);
  EXPECT_TRUE(faulty_.hosts().has_value());
  plan_.set_paused(false);
  EXPECT_FALSE(faulty_.hosts().has_value());
  EXPECT_EQ(plan_.calls("engine.hosts"), 2);
}

TEST_F(FaultyEngineTest, TellsWhatStruckByChanceSoThatItCanBeForced) {
  plan_.set(Fault::failed, 1000);
  std::vector<std::string> told;
  plan_.set_listener([&](Fault fault, const std::string& call, int nth) {
    told.push_back(std::string(enum_text(fault)) + " " + call + " " + std::to_string(nth));
  });
  EXPECT_FALSE(faulty_.hosts().has_value());
  plan_.mark();
  EXPECT_FALSE(faulty_.images().has_value());
  EXPECT_FALSE(faulty_.hosts().has_value());
  EXPECT_FALSE(faulty_.hosts().has_value());
  EXPECT_EQ(told, (std::vector<std::string>{"failed engine.hosts 1", "failed engine.images 1",
                                            "failed engine.hosts 1", "failed engine.hosts 2"}));
}

TEST(FaultPlan, KnowsEveryHitThatThereCanBe) {
  const auto hits = FaultPlan::possible_hits();
  EXPECT_GT(hits.size(), 100u);
  EXPECT_NE(std::ranges::find(hits, "engine.find hung"), hits.end());
  EXPECT_NE(std::ranges::find(hits, "store.write lost_answer"), hits.end());
}

std::string pattern(uint64_t seed, bool active = true) {
  SimClock clock;
  SimEngine engine(clock, {SimHost{}});
  FaultPlan plan(seed);
  plan.set(Fault::failed, 200);
  plan.set(Fault::unavailable, 100);
  plan.set_active(active);
  FaultyEngine faulty(engine, plan);
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    const auto hosts = faulty.hosts();
    text += hosts ? '.' : hosts.error().code == ErrorCode::engine_failed ? 'f' : 'u';
  }
  return text;
}

TEST(FaultPlanTest, FollowsFromItsSeedAndKeepsToItsProbabilities) {
  EXPECT_EQ(pattern(1), pattern(1));
  EXPECT_NE(pattern(1), pattern(2));
  const std::string text = pattern(3);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(text, 'f')), 200, 50);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(text, 'u')), 100, 40);
  EXPECT_EQ(pattern(1, false), std::string(1000, '.'));
}

TEST(FaultyStoreTest, FailsAndCrashesAtEveryPoint) {
  CountingStore store;
  FaultPlan plan(1);
  FaultyStore faulty(store, plan);
  int bodies = 0;
  const auto body = [&](Tx&) -> Status {
    ++bodies;
    return {};
  };
  plan.force(Fault::unavailable, "store.write");
  EXPECT_EQ(faulty.write(body).error().code, ErrorCode::store_unavailable);
  plan.force(Fault::crash_before, "store.write");
  EXPECT_THROW(static_cast<void>(faulty.write(body)), Crash);
  EXPECT_EQ(store.begun, 0);

  plan.force(Fault::crash_inside, "store.write");
  EXPECT_THROW(static_cast<void>(faulty.write(body)), Crash);
  EXPECT_EQ(bodies, 1);
  EXPECT_EQ(store.committed, 0);

  plan.force(Fault::crash_after, "store.write");
  EXPECT_THROW(static_cast<void>(faulty.write(body)), Crash);
  EXPECT_EQ(store.committed, 1);

  EXPECT_TRUE(faulty.write(body).has_value());
  EXPECT_TRUE(faulty.read(body).has_value());
  EXPECT_EQ(store.committed, 3);
  EXPECT_EQ(plan.hits(Fault::crash_inside), 1);
}

TEST(FaultyStoreTest, AnErrorOfTheBodyIsTheStoresError) {
  CountingStore store;
  FaultPlan plan(1);
  FaultyStore faulty(store, plan);
  const auto refuse = [](Tx&) -> Status { return fail(ErrorCode::conflict, Text{"no", "不"}); };
  EXPECT_EQ(faulty.write(refuse).error().code, ErrorCode::conflict);
  EXPECT_EQ(store.committed, 0);
}

}  // namespace
}  // namespace cardhour
