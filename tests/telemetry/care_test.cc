// What is watched over for renters: idle instances, and what a doctor would say.

#include "base/size.h"
#include "tests/telemetry/watching_world.h"

namespace cardhour {
namespace {

class Care : public WatchingWorld {
 protected:
  void rule(const Instance& instance, IdleAction action = IdleAction::stop) {
    ASSERT_TRUE(plane().idle_rules.set(renter_, instance.id.text, action, minutes(30)));
  }
  void load(const Instance& instance, int64_t percent) {
    CardSample sample;
    sample.reading.gpu_percent = percent;
    for (const CardId& card : cards_of(instance.id)) world_.probe().set_sample(card, sample);
  }
  void activity(const Instance& instance, const SimActivity& activity) {
    world_.engine().set_activity(instance.id, activity);
  }
  IdleRule rule_of(const Instance& instance) {
    return (*plane().idle_rules.find(renter_, instance.id.text)).value();
  }
};

TEST_F(Care, OfFiveProfilesOnlyTheTrulyIdleOneIsStoppedAndAfterAWarning) {
  world_.policy().quotas.running = 10;
  const Instance idle = rent();
  const Instance notebook = rent();
  const Instance download = rent();
  const Instance training = rent();
  activity(notebook, {.sessions = 1});
  activity(download, {.network_bytes_per_second = 5 * kMiB});
  load(training, 100);
  // The fifth has no card: it compiles now and then, never for long.
  RentRequest request;
  request.shape = {Mode::no_gpu, "", 0};
  const Instance bursts = *plane().instances.rent(renter_, request, {});
  pass(seconds(30));
  for (const Instance& one : {idle, notebook, download, training, bursts}) rule(one);

  for (int i = 0; i < 5; ++i) {
    activity(bursts, {.millicores = 400});
    pass(seconds(20));
    activity(bursts, {});
    pass(minutes(5) + seconds(20));
  }
  pass(minutes(2));
  const Instance warned = instance(idle.id);
  EXPECT_EQ(warned.observed, Observed::running);
  EXPECT_EQ(warned.notice_reason, "idle");
  ASSERT_TRUE(warned.notice_deadline);
  const Timestamp deadline = *warned.notice_deadline;
  for (int i = 0; i < 3; ++i) {
    activity(bursts, {.millicores = 400});
    pass(seconds(20));
    activity(bursts, {});
    pass(minutes(5));
  }
  const Instance stopped = instance(idle.id);
  EXPECT_EQ(stopped.observed, Observed::stopped);
  EXPECT_EQ(stopped.fault_code, "idle");
  EXPECT_NE(stopped.fault_what_zh, "");
  for (const Segment& segment : segments()) {
    if (segment.instance_id != idle.id || segment.meter == Meter::minimum) continue;
    EXPECT_EQ(segment.close_cause, Cause::idle);
    EXPECT_GE(*segment.closed_at, deadline);
    EXPECT_LE(*segment.closed_at, deadline + seconds(10));
  }
  for (const Instance& one : {notebook, download, training, bursts}) {
    EXPECT_EQ(instance(one.id).observed, Observed::running) << one.name;
    EXPECT_EQ(instance(one.id).notice_reason, "") << one.name;
  }
  EXPECT_EQ(events("instance.idle").size(), 1u);
}

TEST_F(Care, DiskTrafficAloneIsActivityToo) {
  const Instance made = rent();
  rule(made);
  activity(made, {.disk_bytes_per_second = 10 * kMiB});
  pass(hours(2));
  EXPECT_EQ(instance(made.id).observed, Observed::running);
  EXPECT_TRUE(events("instance.idle").empty());
}

TEST_F(Care, WhatTheEngineCannotTellIsBusy) {
  const Instance made = rent();
  rule(made);
  activity(made, {.disk_bytes_per_second = std::nullopt});
  pass(hours(2));
  EXPECT_EQ(instance(made.id).observed, Observed::running);
  EXPECT_TRUE(events("instance.idle").empty());
}

TEST_F(Care, AGapInTheLooksIsBusy) {
  const Instance made = rent();
  rule(made);
  pass(minutes(25));
  world_.sleep(minutes(3));  // the server was down
  world_.restart();
  pass(minutes(10));
  EXPECT_TRUE(events("instance.idle").empty());
  pass(minutes(25));
  EXPECT_EQ(events("instance.idle").size(), 1u);
}

TEST_F(Care, ActivityInTheGraceCancels) {
  const Instance made = rent();
  rule(made);
  pass(minutes(33));
  EXPECT_EQ(instance(made.id).notice_reason, "idle");
  load(made, 50);
  pass(seconds(20));
  EXPECT_EQ(instance(made.id).notice_reason, "");
  EXPECT_FALSE(rule_of(made).warned_at);
  EXPECT_EQ(events("instance.busy").size(), 1u);
  load(made, 0);
  pass(minutes(20));
  EXPECT_EQ(instance(made.id).observed, Observed::running);
  pass(minutes(25));
  EXPECT_EQ(instance(made.id).observed, Observed::stopped);
}

TEST_F(Care, AHoldKeepsItOn) {
  const Instance made = rent();
  EXPECT_EQ(plane().idle_rules.hold(renter_, made.id.text, hours(1)).error().code,
            ErrorCode::conflict);
  rule(made);
  pass(minutes(33));
  ASSERT_TRUE(plane().idle_rules.hold(renter_, made.id.text, hours(2)));
  EXPECT_EQ(instance(made.id).notice_reason, "");
  pass(minutes(110));
  EXPECT_EQ(instance(made.id).observed, Observed::running);
  pass(minutes(30));
  EXPECT_EQ(instance(made.id).observed, Observed::stopped);
}

TEST_F(Care, NotifyOnlyTells) {
  const Instance made = rent();
  rule(made, IdleAction::notify);
  pass(hours(3));
  EXPECT_EQ(instance(made.id).observed, Observed::running);
  EXPECT_EQ(instance(made.id).notice_reason, "");
  EXPECT_EQ(events("instance.idle").size(), 1u);
}

TEST_F(Care, WithoutACardItGoesOnAndCostsLess) {
  const Instance made = rent();
  rule(made, IdleAction::no_gpu);
  pass(minutes(45));
  const Instance now = instance(made.id);
  EXPECT_EQ(now.observed, Observed::running);
  EXPECT_EQ(now.mode, Mode::no_gpu);
  EXPECT_EQ(now.ssh_port, made.ssh_port);
  EXPECT_TRUE(cards_of(made.id).empty());
  EXPECT_FALSE(rule_of(made).then_no_gpu);
}

// Stopped by its rule, and not yet started without a card.
class BetweenStopAndStart : public Care {
 protected:
  BetweenStopAndStart() : made_(rent()) {
    rule(made_, IdleAction::no_gpu);
    pass(minutes(39));
    for (int i = 0; i < 1'000 && instance(made_.id).observed != Observed::stopped; ++i) {
      pass(milliseconds(100));
    }
    EXPECT_EQ(instance(made_.id).observed, Observed::stopped);
    EXPECT_TRUE(rule_of(made_).then_no_gpu);
  }
  const Instance made_;
};

TEST_F(BetweenStopAndStart, AServerThatHasJustStartedGoesOn) {
  world_.restart();
  EXPECT_FALSE(plane().idle.pass());  // nothing is granted before the first look
  EXPECT_TRUE(rule_of(made_).then_no_gpu);
  pass(minutes(1));
  EXPECT_EQ(instance(made_.id).mode, Mode::no_gpu);
  EXPECT_EQ(instance(made_.id).observed, Observed::running);
}

TEST_F(BetweenStopAndStart, AfterARestoreNothingStartsByItself) {
  world_.take_backup();
  world_.restore_backup();
  EXPECT_FALSE(rule_of(made_).then_no_gpu);
  pass(minutes(5));
  EXPECT_EQ(instance(made_.id).observed, Observed::stopped);
}

TEST_F(Care, ARenterWhoStopsItFirstHasTheLastWord) {
  const Instance made = rent();
  rule(made, IdleAction::no_gpu);
  pass(minutes(33));
  ASSERT_TRUE(plane().instances.stop(renter_, made.id.text));
  pass(minutes(30));
  EXPECT_EQ(instance(made.id).observed, Observed::stopped);
  EXPECT_FALSE(rule_of(made).warned_at);
}

TEST_F(Care, RulesHaveBoundsAndOwners) {
  const Instance made = rent();
  for (const Duration bad : {minutes(9), hours(25)}) {
    EXPECT_EQ(plane().idle_rules.set(renter_, made.id.text, IdleAction::stop, bad).error().field,
              "after_ms");
  }
  const Actor other = world_.add_renter("renter2");
  EXPECT_EQ(plane().idle_rules.set(other, made.id.text, IdleAction::stop, hours(1)).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(plane().idle_rules.clear(renter_, made.id.text).error().code, ErrorCode::conflict);
  rule(made);
  EXPECT_TRUE(plane().idle_rules.clear(renter_, made.id.text));
  pass(hours(1));
  EXPECT_EQ(instance(made.id).observed, Observed::running);
}

TEST_F(Care, CurvesFollowTheInstance) {
  const Instance made = rent();
  activity(made, {.millicores = 2'000, .network_bytes_per_second = 1'000'000});
  load(made, 70);
  pass(minutes(10));
  const auto curves = *plane().telemetry.instance_curves(
      made.id, {.from = world_.now() - minutes(5), .to = {}, .step = minutes(1)});
  ASSERT_GE(curves.points.size(), 5u);
  const SeriesRow& row = curves.points[2].values;
  const auto value = [&](std::string_view name) {
    return row[column_of(SeriesKind::instance, name)];
  };
  EXPECT_EQ(value("gpu_percent"), 70);
  EXPECT_NEAR(value("cpu_percent"), 2'000 * 100.0 / made.millicores, 0.1);
  EXPECT_NEAR(value("network_received_bytes_per_second"), 1'000'000, 10);
  EXPECT_EQ(value("sessions"), 0);
}

TEST_F(Care, TheDoctorTellsAProblemOnceARun) {
  const Instance made = rent();
  EXPECT_TRUE(plane().doctor.examine(made)->empty());
  activity(made, {.millicores = made.millicores * 9 / 10});
  pass(minutes(40));
  const auto findings = *plane().doctor.examine(instance(made.id));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "no_gpu_process");
  EXPECT_EQ(events("instance.finding").size(), 1u);
  EXPECT_EQ(events("instance.finding")[0].reason, "no_gpu_process");
  ASSERT_TRUE(plane().instances.stop(renter_, made.id.text));
  pass(minutes(1));
  EXPECT_TRUE(plane().doctor.examine(instance(made.id))->empty());
}

}  // namespace
}  // namespace cardhour
