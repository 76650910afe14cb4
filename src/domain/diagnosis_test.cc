#include "domain/diagnosis.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace cardhour {
namespace {

constexpr Timestamp kBegin{1'764'547'200'000};
constexpr int64_t kGi = int64_t{1} << 30;

// A run of half an hour on healthy, busy cards; each test spoils something.
class DiagnosisTest : public testing::Test {
 protected:
  DiagnosisTest() {
    input_.runs = true;
    input_.wants_cards = true;
    input_.memory_bytes = 64 * kGi;
    input_.window = minutes(30);
    SeriesRow row;
    row.fill(0);
    for (int i = 0; i < 180; ++i) input_.points.push_back({kBegin + seconds(10) * i, row});
    every("gpu_percent", 95);
    every("gpu_percent_highest", 97);
    every("gpu_percent_lowest", 93);
    every("gpu_processes", 1);
    every("cpu_percent", 40);
    every("memory_used_bytes", 20 * kGi);
    add_card();
  }
  void every(std::string_view column, double value) {
    for (SeriesPoint& point : input_.points) {
      point.values[column_of(SeriesKind::instance, column)] = static_cast<float>(value);
    }
  }
  void every_of_card(std::string_view column, double value, size_t card = 0) {
    for (SeriesPoint& point : input_.cards[card].points) {
      point.values[column_of(SeriesKind::card, column)] = static_cast<float>(value);
    }
  }
  void add_card() {
    DiagnosedCard card;
    card.index = static_cast<int>(input_.cards.size());
    card.sample.reading.memory_total_bytes = 24 * kGi;
    card.sample.reading.memory_used_bytes = 10 * kGi;
    card.sample.reading.gpu_percent = 95;
    card.sample.reading.pcie_width = 16;
    card.sample.reading.pcie_width_max = 16;
    SeriesRow row;
    row.fill(0);
    for (int i = 0; i < 180; ++i) card.points.push_back({kBegin + seconds(10) * i, row});
    input_.cards.push_back(card);
    every_of_card("gpu_percent_highest", 97, input_.cards.size() - 1);
    every_of_card("memory_used_bytes", 10.0 * kGi, input_.cards.size() - 1);
  }
  std::vector<std::string> codes() {
    std::vector<std::string> out;
    for (const Finding& finding : diagnose(input_)) {
      out.push_back(finding.code);
      EXPECT_FALSE(finding.what.zh.empty() || finding.evidence.zh.empty() ||
                   finding.remedy.zh.empty() || finding.evidence.en.empty());
    }
    return out;
  }
  using Codes = std::vector<std::string>;

  DiagnosisInput input_;
};

TEST_F(DiagnosisTest, AHealthyRunHasNothing) { EXPECT_EQ(codes(), Codes{}); }

TEST_F(DiagnosisTest, WhatDoesNotRunHasNothing) {
  input_.runs = false;
  input_.driver_answers = false;
  EXPECT_EQ(codes(), Codes{});
}

TEST_F(DiagnosisTest, UnknownIsNoEvidence) {
  for (SeriesPoint& point : input_.points) point.values = unknown_row();
  for (SeriesPoint& point : input_.cards[0].points) point.values = unknown_row();
  input_.cards[0].sample.reading = {};
  EXPECT_EQ(codes(), Codes{});
}

TEST_F(DiagnosisTest, NoCardMode) {
  input_.wants_cards = false;
  input_.cards.clear();
  EXPECT_EQ(codes(), Codes{"no_card_mode"});
}

TEST_F(DiagnosisTest, DriverAndSickCardsComeFirst) {
  every("memory_used_bytes", 20 * kGi);
  input_.cards[0].sample.reading.memory_used_bytes = 24 * kGi;
  input_.cards[0].conditions = {"xid_79"};
  input_.driver_answers = false;
  EXPECT_EQ(codes(), (Codes{"driver_silent", "card_sick", "vram_full"}));
}

TEST_F(DiagnosisTest, ErrorsOfTheProgramAreItsOwn) {
  input_.cards[0].xids = {{CardId{"GPU-1"}, 31, 4, kBegin, kBegin},
                          {CardId{"GPU-1"}, 79, 1, {}, {}}};
  EXPECT_EQ(codes(), Codes{"program_error"});
  EXPECT_NE(diagnose(input_)[0].evidence.en.find("Xid 31 x4"), std::string::npos);
}

TEST_F(DiagnosisTest, CpuOnlyFramework) {
  every("gpu_percent", 0);
  every("gpu_percent_highest", 0);
  every("gpu_percent_lowest", 0);
  every("gpu_processes", 0);
  every("cpu_percent", 90);
  every_of_card("gpu_percent_highest", 0);
  EXPECT_EQ(codes(), Codes{"no_gpu_process"});
  every("cpu_percent", 2);  // nothing runs: nothing is slow
  EXPECT_EQ(codes(), Codes{});
}

TEST_F(DiagnosisTest, InputPipelineAndWaiting) {
  every("gpu_percent", 15);
  every("gpu_percent_highest", 20);
  every("gpu_percent_lowest", 10);
  every("cpu_percent", 95);
  EXPECT_EQ(codes(), Codes{"input_pipeline"});
  every("cpu_percent", 5);
  every("disk_read_bytes_per_second", 30 * 1024 * 1024);
  EXPECT_EQ(codes(), Codes{"waiting"});
  EXPECT_NE(diagnose(input_)[0].evidence.en.find("disk 30 MiB/s"), std::string::npos);
}

TEST_F(DiagnosisTest, OneOfSeveralWorks) {
  add_card();
  every("gpu_percent", 48);
  every("gpu_percent_lowest", 1);
  EXPECT_EQ(codes(), Codes{"unbalanced"});
}

TEST_F(DiagnosisTest, ALeakIsFittedAndDated) {
  auto& points = input_.cards[0].points;
  const size_t column = column_of(SeriesKind::card, "memory_used_bytes");
  for (size_t i = 0; i < points.size(); ++i) {  // 4 GiB in half an hour, from 10
    points[i].values[column] = static_cast<float>(10.0 * kGi + 4.0 * kGi * i / 180);
  }
  EXPECT_EQ(codes(), Codes{"vram_climbs"});
  EXPECT_EQ(diagnose(input_)[0].evidence.en, "8.0 GiB an hour, full in about 75 min");
  // A server that fills its cache and stays there does not leak.
  for (size_t i = 0; i < points.size(); ++i) {
    points[i].values[column] = static_cast<float>(i < 20 ? 2.0 * kGi : 20.0 * kGi);
  }
  EXPECT_EQ(codes(), Codes{});
  // Nor what goes up and down with each step.
  for (size_t i = 0; i < points.size(); ++i) {
    points[i].values[column] = static_cast<float>((10.0 + i % 7) * kGi);
  }
  EXPECT_EQ(codes(), Codes{});
}

TEST_F(DiagnosisTest, FullMemories) {
  every("memory_used_bytes", 62 * kGi);
  EXPECT_EQ(codes(), Codes{"ram_full"});
  every("memory_used_bytes", 20 * kGi);
  input_.cards[0].sample.reading.memory_used_bytes = 24 * kGi - 1;
  input_.cards[0].sample.processes = {
      {.pid = 1, .memory_used_bytes = 20 * kGi, .user = "alice", .command = "python3"}};
  EXPECT_EQ(codes(), Codes{"vram_full"});
  EXPECT_NE(diagnose(input_)[0].evidence.en.find("python3 (alice) 20.0 GiB"), std::string::npos);
}

TEST_F(DiagnosisTest, WhoHoldsMemoryAndDoesNothing) {
  every("gpu_percent", 0);
  every("gpu_percent_highest", 0);
  every("cpu_percent", 1);
  every_of_card("gpu_percent_highest", 0);
  input_.cards[0].sample.processes = {
      {.pid = 1, .memory_used_bytes = 9 * kGi, .user = "bob", .command = "python3"}};
  EXPECT_EQ(codes(), Codes{"idle_holder"});
}

TEST_F(DiagnosisTest, HeatAndNarrowLinks) {
  every_of_card("throttled_percent", 40);
  input_.cards[0].sample.reading.pcie_width = 4;
  EXPECT_EQ(codes(), (Codes{"throttled", "narrow_link"}));
  input_.cards[0].sample.reading.gpu_percent = 0;  // at rest links may sleep
  EXPECT_EQ(codes(), Codes{"throttled"});
}

TEST_F(DiagnosisTest, SaysNothingOfSpeedTooEarly) {
  every("gpu_percent", 0);
  every("gpu_percent_highest", 0);
  every("gpu_processes", 0);
  every("cpu_percent", 90);
  input_.points.resize(10);
  EXPECT_EQ(codes(), Codes{});
}

RC_GTEST_PROP(Diagnosis, AnyNumbersAreSurvived, ()) {
  DiagnosisInput input;
  input.runs = true;
  input.wants_cards = *rc::gen::arbitrary<bool>();
  input.memory_bytes = *rc::gen::inRange<int64_t>(0, 1'000'000);
  DiagnosedCard card;
  card.sample.reading.memory_total_bytes = *rc::gen::inRange<int64_t>(-5, 100);
  card.sample.reading.memory_used_bytes = *rc::gen::inRange<int64_t>(-5, 200);
  const auto values = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-10, 200));
  for (size_t i = 0; i < values.size(); ++i) {
    SeriesPoint point{kBegin + seconds(10) * static_cast<int64_t>(i), {}};
    point.values.fill(values[i] < 0 ? std::nanf("") : static_cast<float>(values[i]));
    input.points.push_back(point);
    card.points.push_back(point);
  }
  input.cards = {card, card};
  for (const Finding& finding : diagnose(input)) RC_ASSERT(!finding.remedy.en.empty());
}

}  // namespace
}  // namespace cardhour
