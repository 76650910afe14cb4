#include "adapters/series/ring_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace cardhour {
namespace {

namespace fs = std::filesystem;

const SeriesId kCard{SeriesKind::card, "GPU-1"};
constexpr Timestamp kBegin{1'764'547'200'000};  // an hour begins

SeriesRow row_of(float value) {
  SeriesRow row = unknown_row();
  row[0] = value;
  row[1] = value;
  return row;
}

class RingFilesTest : public testing::Test {
 protected:
  RingFilesTest() : path_(testing::TempDir() + "cardhour_rings_" + std::to_string(getpid())) {
    reopen();
  }
  ~RingFilesTest() override { fs::remove_all(path_); }
  void reopen() { store_ = std::move(*RingFiles::open(path_)); }
  void append(Timestamp at, float value) { ASSERT_TRUE(store_->append(kCard, at, row_of(value))); }
  std::vector<SeriesPoint> read(size_t tier, Timestamp from, Timestamp to) {
    return *store_->read(kCard, tier, from, to);
  }

  std::string path_;
  std::unique_ptr<RingFiles> store_;
};

TEST_F(RingFilesTest, GivesBackWhatWasWrittenAndLeavesGaps) {
  append(kBegin + seconds(3), 1);
  append(kBegin + seconds(12), 2);
  append(kBegin + seconds(50), 3);
  const auto points = read(0, kBegin, kBegin + minutes(1));
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].at, kBegin);
  EXPECT_EQ(points[1].at, kBegin + seconds(10));
  EXPECT_EQ(points[2].at, kBegin + seconds(50));
  EXPECT_EQ(points[2].values[0], 3);
  EXPECT_TRUE(std::isnan(points[2].values[2]));
  EXPECT_EQ(read(0, kBegin + seconds(10), kBegin + seconds(50)).size(), 1u);
  EXPECT_TRUE(store_->read({SeriesKind::instance, "i1"}, 0, kBegin, kBegin + days(1))->empty());
}

TEST_F(RingFilesTest, MinutesAndHoursFollowAcrossARestart) {
  for (int i = 0; i < 360 + 6; ++i) {
    if (i == 100) reopen();
    append(kBegin + seconds(10) * i, static_cast<float>(i % 6));
  }
  const auto minutes_read = read(1, kBegin, kBegin + hours(1));
  ASSERT_EQ(minutes_read.size(), 60u);
  for (const SeriesPoint& point : minutes_read) {
    EXPECT_EQ(point.values[0], 2.5F);
    EXPECT_EQ(point.values[1], 5);  // the highest
  }
  const auto hours_read = read(2, kBegin, kBegin + hours(1));
  ASSERT_EQ(hours_read.size(), 1u);
  EXPECT_EQ(hours_read[0].values[0], 2.5F);
}

TEST_F(RingFilesTest, WhatStillFillsUpShowsInCoarserSteps) {
  append(kBegin, 4);
  append(kBegin + seconds(70), 6);
  const auto points = read(1, kBegin, kBegin + hours(1));
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].values[0], 6);
}

TEST_F(RingFilesTest, AnEarlierRoundOfTheRingIsNotTakenForThisOne) {
  append(kBegin, 1);
  append(kBegin + days(1) + seconds(10), 2);
  EXPECT_EQ(read(0, kBegin + days(1), kBegin + days(1) + minutes(1)).size(), 1u);
  append(kBegin + days(1), 3);  // takes the place of the first
  EXPECT_TRUE(read(0, kBegin, kBegin + minutes(1)).empty());
}

TEST_F(RingFilesTest, DamageIsAGap) {
  append(kBegin, 1);
  append(kBegin + seconds(10), 2);
  reopen();
  const std::string file = path_ + "/card-GPU-1.ring";
  const int64_t place = 64 + kBegin.ms / 10'000 % kSeriesTiers[0].slots * 64;
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(place).write("xyzw", 4);
  EXPECT_EQ(read(0, kBegin, kBegin + minutes(1)).size(), 1u);
  fs::resize_file(file, 100);
  EXPECT_TRUE(read(0, kBegin, kBegin + minutes(1)).empty());
  append(kBegin + seconds(20), 3);
  EXPECT_EQ(read(0, kBegin, kBegin + minutes(1)).size(), 1u);
}

TEST_F(RingFilesTest, NamesThatLeadElsewhereAreRefused) {
  EXPECT_FALSE(store_->append({SeriesKind::card, "../x"}, kBegin, row_of(1)));
  EXPECT_TRUE(store_->read({SeriesKind::card, "../x"}, 0, kBegin, kBegin + hours(1))->empty());
  EXPECT_TRUE(store_->remove({SeriesKind::card, "../../etc/passwd"}));
}

TEST_F(RingFilesTest, RemovedIsGoneAndMayBeginAgain) {
  append(kBegin, 1);
  EXPECT_EQ(store_->list(SeriesKind::card)->size(), 1u);
  EXPECT_EQ(store_->list(SeriesKind::card)->front(), "GPU-1");
  EXPECT_TRUE(store_->list(SeriesKind::instance)->empty());
  ASSERT_TRUE(store_->remove(kCard));
  EXPECT_TRUE(store_->remove(kCard));
  EXPECT_TRUE(read(0, kBegin, kBegin + hours(1)).empty());
  append(kBegin + hours(2), 1);
  EXPECT_EQ(read(0, kBegin, kBegin + days(1)).size(), 1u);
}

// 64 cards of a year stay below 300 MB: the size of one file does not depend on time.
TEST_F(RingFilesTest, AFileNeverGrowsBeyondItsBounds) {
  for (int hour = 0; hour < 24 * 400; hour += 7) append(kBegin + hours(hour), 1);
  for (int i = 0; i < 8'640 * 2; ++i) append(kBegin + days(401) + seconds(10) * i, 1);
  struct stat about {};
  ASSERT_EQ(::stat((path_ + "/card-GPU-1.ring").c_str(), &about), 0);
  EXPECT_LE(about.st_size * 64, 300'000'000);
}

}  // namespace
}  // namespace cardhour
