#include "domain/card_health.h"

#include <gtest/gtest.h>

namespace cardhour {
namespace {

constexpr int64_t kEmpty = 1000;

class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    sample_.uuid = "GPU-1";
    sample_.reading.memory_used_bytes = 0;
    look_.sample = &sample_;
    look_.before = &before_;
    look_.empty_card_bytes = kEmpty;
  }
  CardSample sample_;
  CardSample before_;
  CardLook look_;
};

TEST_F(JudgeTest, AHealthyCardHasNothing) {
  const CardVerdict verdict = judge(look_);
  EXPECT_EQ(verdict.quarantine, "");
  EXPECT_EQ(verdict.unfit, "");
  EXPECT_FALSE(verdict.ends_run);
}

TEST_F(JudgeTest, UnknownReadingsAreNoReason) {
  sample_.reading = {};
  EXPECT_EQ(judge(look_).unfit, "");
  EXPECT_EQ(judge(look_).quarantine, "");
}

TEST_F(JudgeTest, AnErrorOfTheProgramIsTheRentersBusiness) {
  look_.xids = {13, 31, 43, 45};
  look_.is_rented = true;
  EXPECT_EQ(judge(look_).quarantine, "");
  EXPECT_FALSE(judge(look_).ends_run);
}

TEST_F(JudgeTest, TheWorstErrorCounts) {
  look_.is_rented = true;
  look_.xids = {63};
  EXPECT_EQ(judge(look_).quarantine, "xid_63");
  EXPECT_FALSE(judge(look_).ends_run);
  look_.xids = {63, 79, 13};
  EXPECT_EQ(judge(look_).quarantine, "xid_79");
  EXPECT_TRUE(judge(look_).ends_run);
  look_.xids = {12345};
  EXPECT_EQ(judge(look_).quarantine, "");
}

TEST_F(JudgeTest, ALostCardIsSoAtOnceAndAnotherFaultOnTheSecondLook) {
  sample_.fault = "GPU_IS_LOST";
  look_.faults_in_a_row = 1;
  EXPECT_EQ(judge(look_).quarantine, "lost");
  EXPECT_TRUE(judge(look_).ends_run);
  sample_.fault = "UNKNOWN";
  EXPECT_EQ(judge(look_).quarantine, "");
  look_.faults_in_a_row = 2;
  EXPECT_EQ(judge(look_).quarantine, "lost");
}

TEST_F(JudgeTest, ASilentDriverEndsNothing) {
  look_.driver_answers = false;
  look_.sample = nullptr;
  look_.faults_in_a_row = 9;
  look_.is_rented = true;
  const CardVerdict verdict = judge(look_);
  EXPECT_EQ(verdict.unfit, "driver_silent");
  EXPECT_EQ(verdict.quarantine, "");
  EXPECT_FALSE(verdict.ends_run);
}

TEST_F(JudgeTest, MemoryThatNobodyShouldHoldBlocksAFreeCardOnly) {
  sample_.reading.memory_used_bytes = kEmpty + 1;
  EXPECT_EQ(judge(look_).unfit, "memory_held");
  sample_.processes = {{.pid = 1}};
  EXPECT_EQ(judge(look_).unfit, "process_left");
  look_.is_rented = true;
  EXPECT_EQ(judge(look_).unfit, "");
}

TEST_F(JudgeTest, OnlyNewUncorrectableErrorsCount) {
  sample_.reading.ecc_uncorrected = 3;
  EXPECT_EQ(judge(look_).quarantine, "");  // unknown before: no growth
  before_.reading.ecc_uncorrected = 3;
  EXPECT_EQ(judge(look_).quarantine, "");
  before_.reading.ecc_uncorrected = 2;
  EXPECT_EQ(judge(look_).quarantine, "ecc");
  EXPECT_FALSE(judge(look_).ends_run);
}

TEST_F(JudgeTest, WhatNeedsAResetOrIsDividedIsNotForRent) {
  sample_.is_divided = true;
  EXPECT_EQ(judge(look_).unfit, "divided");
  sample_.reading.row_remap_is_pending = 1;
  EXPECT_EQ(judge(look_).unfit, "remap_pending");
  sample_.reading.row_remap_has_failed = 1;
  EXPECT_EQ(judge(look_).unfit, "remap_failed");
}

TEST(IsFatal, ByTheReason) {
  EXPECT_TRUE(is_fatal("lost"));
  EXPECT_TRUE(is_fatal("xid_79"));
  EXPECT_FALSE(is_fatal("xid_63"));
  EXPECT_FALSE(is_fatal("xid_"));
  EXPECT_FALSE(is_fatal("operator"));
}

TEST(UnownedBytes, IsKnownOnlyWhenAllIs) {
  CardSample sample;
  EXPECT_EQ(unowned_bytes(sample), std::nullopt);
  sample.reading.memory_used_bytes = 100;
  EXPECT_EQ(unowned_bytes(sample), 100);
  sample.processes = {{.pid = 1, .memory_used_bytes = 30}};
  EXPECT_EQ(unowned_bytes(sample), 70);
  sample.processes[0].memory_used_bytes = 130;  // the driver rounds each its own way
  EXPECT_EQ(unowned_bytes(sample), 0);
  sample.processes[0].memory_used_bytes.reset();
  EXPECT_EQ(unowned_bytes(sample), std::nullopt);
}

TEST(ConditionText, EveryReasonOfAVerdictHasWordsOfItsOwn) {
  const Text other = condition_text("operator").what;
  for (const char* reason : {"lost", "ecc", "remap_pending", "remap_failed", "divided",
                             "memory_held", "process_left", "driver_silent", "xid_79"}) {
    EXPECT_NE(condition_text(reason).what, other) << reason;
    EXPECT_FALSE(condition_text(reason).next.zh.empty()) << reason;
  }
  EXPECT_EQ(condition_text("xid_79").what.en, "Xid 79: the card has fallen off the bus");
}

}  // namespace
}  // namespace cardhour
