// Cards that fail: out of the market, renter told, not charged.
#include <algorithm>

#include "base/size.h"
#include "tests/telemetry/watching_world.h"

namespace cardhour {
namespace {

class CardHealth : public WatchingWorld {
 protected:
  int free_4090s() {
    const auto offers = *plane().inventory.offers(std::nullopt);
    for (const Offer& offer : offers) {
      if (offer.model == "rtx-4090") return offer.cards_free;
    }
    return -1;
  }
  CardId free_card() {
    const auto views = *plane().inventory.cards();
    for (const CardView& view : views) {
      if (view.state == "free" && view.card.model == "rtx-4090") return view.card.uuid;
    }
    return {};
  }
  std::string state_of(const CardId& card) {
    const auto views = *plane().inventory.cards();
    for (const CardView& view : views) {
      if (view.card.uuid == card) return view.state;
    }
    return "";
  }
};

TEST_F(CardHealth, AFatalErrorEndsTheRunChargedToTheLastGoodLook) {
  const Instance made = rent();
  const CardId card = cards_of(made.id).at(0);
  pass(minutes(10));
  const Money before = wallet();
  world_.probe().report(card, 79);
  world_.engine().set_card_fault(card, "GPU_IS_LOST");
  const Timestamp broke_at = world_.now();
  pass(seconds(20));

  const Instance stopped = instance(made.id);
  EXPECT_EQ(stopped.observed, Observed::stopped);
  EXPECT_EQ(stopped.fault_code, "card_fault");
  EXPECT_NE(stopped.fault_what_en.find("fallen off the bus"), std::string::npos);
  EXPECT_NE(stopped.fault_next_zh, "");
  const Segment run = segments().at(0);
  ASSERT_TRUE(run.closed_at);
  EXPECT_EQ(run.close_cause, Cause::card_fault);
  EXPECT_LE(*run.closed_at, broke_at);
  EXPECT_GE(*run.closed_at, broke_at - world_.policy().observe_interval);
  EXPECT_EQ(segments().size(), 1u);  // no smallest charge of a run that we ended
  EXPECT_GE(wallet(), before);
  const auto conditions = this->conditions();
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions[0].kind, ConditionKind::quarantine);
  EXPECT_EQ(conditions[0].reason, "xid_79");
  EXPECT_EQ(events("card.quarantined").size(), 1u);

  // The card is well again, and stays out until a person says so.
  world_.engine().set_card_fault(card, "");
  pass(minutes(1));
  EXPECT_EQ(state_of(card), "quarantine");
  EXPECT_EQ(free_4090s(), 3);
  ASSERT_TRUE(plane().telemetry.put_back(world_.admin(), card));
  EXPECT_EQ(free_4090s(), 4);
  EXPECT_FALSE(plane().telemetry.put_back(world_.admin(), card));
}

TEST_F(CardHealth, AnErrorDuringTheStartEndsTheRunOnceItRuns) {
  RentRequest request;
  request.shape = {Mode::on_demand, "4090", 1};
  const Instance made = *plane().instances.rent(renter_, request, {});
  const CardId card = cards_of(made.id).at(0);
  world_.probe().report(card, 119);
  ASSERT_TRUE(plane().measure.pass());
  EXPECT_EQ(instance(made.id).observed, Observed::creating);
  pass(minutes(1));
  EXPECT_EQ(instance(made.id).observed, Observed::stopped);
  EXPECT_EQ(instance(made.id).fault_code, "card_fault");
}

TEST_F(CardHealth, ProgramErrorsAreCountedAndNothingElse) {
  const Instance made = rent();
  const CardId card = cards_of(made.id).at(0);
  for (int i = 0; i < 3; ++i) {
    world_.probe().report(card, 31);
    pass(seconds(10));
  }
  EXPECT_EQ(instance(made.id).observed, Observed::running);
  EXPECT_TRUE(conditions().empty());
  const auto cards = *plane().telemetry.cards();
  const auto now =
      std::ranges::find_if(cards, [&](const CardNow& one) { return one.view.card.uuid == card; });
  ASSERT_NE(now, cards.end());
  ASSERT_EQ(now->xids.size(), 1u);
  EXPECT_EQ(now->xids[0].code, 31);
  EXPECT_EQ(now->xids[0].count, 3);
  EXPECT_LT(now->xids[0].first_at, now->xids[0].last_at);
}

TEST_F(CardHealth, ACardThatNeedsAResetLeavesWithTheEndOfTheRun) {
  const Instance made = rent();
  const CardId card = cards_of(made.id).at(0);
  world_.probe().report(card, 63);
  pass(seconds(20));
  EXPECT_EQ(instance(made.id).observed, Observed::running);
  ASSERT_TRUE(plane().instances.stop(renter_, made.id.text));
  pass(seconds(20));
  EXPECT_EQ(state_of(card), "quarantine");
  EXPECT_EQ(free_4090s(), 3);
}

TEST_F(CardHealth, MemoryThatIsLeftBlocksTheCardUntilItIsGone) {
  const CardId card = free_card();
  world_.engine().set_memory_used(card, 20 * kGiB);
  pass(seconds(10));
  EXPECT_EQ(state_of(card), "unfit");
  EXPECT_EQ(conditions().at(0).reason, "memory_held");
  EXPECT_EQ(free_4090s(), 3);
  const auto cards = *plane().telemetry.cards();
  for (const CardNow& one : cards) {
    if (one.view.card.uuid != card) continue;
    EXPECT_EQ(one.unowned_bytes, 20 * kGiB);
  }
  CardSample with_process;
  with_process.processes = {{.pid = 7, .memory_used_bytes = 20 * kGiB, .command = "left"}};
  world_.probe().set_sample(card, with_process);
  pass(seconds(10));
  EXPECT_EQ(conditions().at(0).reason, "process_left");
  const auto processes = *plane().telemetry.processes();
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_FALSE(processes[0].is_expected);
  EXPECT_FALSE(processes[0].instance);

  world_.probe().set_sample(card, {});
  world_.engine().set_memory_used(card, 0);
  pass(seconds(10));
  EXPECT_TRUE(conditions().empty());
  EXPECT_EQ(free_4090s(), 4);
  EXPECT_EQ(events("card.fit").size(), 1u);
}

TEST_F(CardHealth, AProcessIsFoundByItsContainer) {
  const Instance made = rent();
  const CardId card = cards_of(made.id).at(0);
  CardSample sample;
  sample.reading.gpu_percent = 90;
  sample.processes = {{.pid = 7,
                       .memory_used_bytes = kGiB,
                       .container = made.id.text,
                       .uid = 1000,
                       .user = "alice",
                       .command = "python3"}};
  world_.probe().set_sample(card, sample);
  world_.engine().set_memory_used(card, kGiB + 100);
  pass(seconds(10));
  auto processes = *plane().telemetry.processes();
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].instance, made.id);
  EXPECT_EQ(processes[0].login, "renter1");
  EXPECT_EQ(processes[0].process.user, "alice");
  EXPECT_TRUE(processes[0].is_expected);
  EXPECT_TRUE(conditions().empty());  // its own renter may use it

  // The same process on a card that is somebody else's, or nobody's, is told apart.
  world_.probe().set_sample(free_card(), sample);
  pass(seconds(10));
  processes = *plane().telemetry.processes();
  EXPECT_EQ(std::ranges::count(processes, false, &ProcessNow::is_expected), 1);
}

TEST_F(CardHealth, ASilentDriverTakesCardsOutForAWhileAndEndsNothing) {
  const Instance made = rent();
  world_.probe().set_refuses(true);
  pass(seconds(20));
  EXPECT_EQ(free_4090s(), 3);  // a moment is no news
  pass(seconds(40));
  EXPECT_EQ(free_4090s(), 0);
  EXPECT_EQ(instance(made.id).observed, Observed::running);
  EXPECT_EQ(events("driver.silent").size(), 1u);
  EXPECT_FALSE(plane().telemetry.cards()->empty());  // people still see the last look
  world_.probe().set_refuses(false);
  pass(seconds(20));
  EXPECT_EQ(free_4090s(), 3);
  EXPECT_EQ(events("driver.answers").size(), 1u);
}

TEST_F(CardHealth, TheOperatorsHand) {
  const Instance made = rent();
  const CardId rented = cards_of(made.id).at(0);
  const CardId free = free_card();
  const Actor& admin = world_.admin();
  ASSERT_TRUE(plane().telemetry.take_out(admin, free, {ConditionKind::excluded, "mine", false}));
  EXPECT_EQ(state_of(free), "excluded");
  EXPECT_EQ(free_4090s(), 2);
  pass(minutes(1));
  EXPECT_EQ(state_of(free), "excluded");

  ASSERT_TRUE(plane().telemetry.take_out(admin, rented, {ConditionKind::quarantine, "fan", false}));
  pass(minutes(1));
  EXPECT_EQ(instance(made.id).observed, Observed::running);
  const Timestamp ended_at = world_.now();
  ASSERT_TRUE(plane().telemetry.take_out(admin, rented, {ConditionKind::quarantine, "fan", true}));
  pass(seconds(20));
  EXPECT_EQ(instance(made.id).observed, Observed::stopped);
  EXPECT_EQ(*segments().at(0).closed_at, ended_at);
  EXPECT_EQ(segments().at(0).close_cause, Cause::card_fault);
  EXPECT_FALSE(plane().telemetry.take_out(admin, CardId{"GPU-none"}, {}));
  EXPECT_EQ(plane().telemetry.find_card("0")->uuid.text.substr(0, 4), "GPU-");
  EXPECT_FALSE(plane().telemetry.find_card("GPU-"));
  EXPECT_FALSE(plane().telemetry.find_card("99"));
}

TEST_F(CardHealth, AKillBetweenReportAndDatabaseKeepsTheReport) {
  const CardId card = free_card();
  world_.probe().report(card, 48);
  world_.faults().force(Fault::unavailable, "store.write");
  static_cast<void>(plane().measure.pass());
  EXPECT_TRUE(conditions().empty());
  static_cast<void>(plane().measure.pass());
  EXPECT_EQ(conditions().at(0).reason, "xid_48");
}

TEST_F(CardHealth, ALookThatFindsNothingNewWritesNothing) {
  rent();
  pass(minutes(1));
  const int64_t writes = world_.faults().calls("store.write");
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(plane().measure.pass());
  EXPECT_EQ(world_.faults().calls("store.write"), writes);
}

}  // namespace
}  // namespace cardhour
