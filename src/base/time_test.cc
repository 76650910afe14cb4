#include "base/time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace cardhour {
namespace {

TEST(Rfc3339, WritesUtcWithMilliseconds) {
  EXPECT_EQ(to_rfc3339(Timestamp{0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_rfc3339(Timestamp{1'796'113'800'123}), "2026-12-01T08:30:00.123Z");
  EXPECT_EQ(to_rfc3339(Timestamp{-1}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(to_rfc3339(Timestamp{951'782'400'000}), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(to_rfc3339(Timestamp{INT64_MAX}), "9999-12-31T23:59:59.999Z");
}

TEST(Rfc3339, ReadsOffsetsAndFractions) {
  const Timestamp morning{1'796'113'800'000};
  EXPECT_EQ(parse_rfc3339("2026-12-01T08:30:00Z"), morning);
  EXPECT_EQ(parse_rfc3339("2026-12-01t08:30:00z"), morning);
  EXPECT_EQ(parse_rfc3339("2026-12-01 08:30:00Z"), morning);
  EXPECT_EQ(parse_rfc3339("2026-12-01T16:30:00+08:00"), morning);
  EXPECT_EQ(parse_rfc3339("2026-12-01T03:00:00-05:30"), morning);
  EXPECT_EQ(parse_rfc3339("2026-12-01T08:30:00.1Z"), morning + milliseconds(100));
  EXPECT_EQ(parse_rfc3339("2026-12-01T08:30:00.1239999999Z"), morning + milliseconds(123));
  EXPECT_EQ(parse_rfc3339("2016-12-31T23:59:60Z"), parse_rfc3339("2017-01-01T00:00:00Z"));
}

TEST(Rfc3339, RefusesTheRest) {
  for (const char* text :
       {"", "2026-12-01", "2026-12-01T08:30:00", "2026-12-01T08:30Z", "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-12-32T00:00:00Z",
        "2026-12-01T24:00:00Z", "2026-12-01T08:60:00Z", "2026-12-01T08:30:61Z",
        "2026-12-01T08:30:00.Z", "2026-12-01T08:30:00+8:00", "2026-12-01T08:30:00+24:00",
        "2026-12-01T08:30:00Zx", " 2026-12-01T08:30:00Z", "26-12-01T08:30:00Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

RC_GTEST_PROP(Rfc3339, ReadsBackWhatItWrites, ()) {
  const Timestamp t{*rc::gen::inRange<int64_t>(-62'167'219'200'000, 253'402'300'800'000)};
  RC_ASSERT(parse_rfc3339(to_rfc3339(t)) == t);
}

RC_GTEST_PROP(Rfc3339, TextOrderIsTimeOrder, ()) {
  const Timestamp a{*rc::gen::inRange<int64_t>(0, 253'402'300'800'000)};
  const Timestamp b{*rc::gen::inRange<int64_t>(0, 253'402'300'800'000)};
  RC_ASSERT((to_rfc3339(a) < to_rfc3339(b)) == (a < b));
}

RC_GTEST_PROP(Rfc3339, SurvivesGarbage, (const std::string& text)) {
  RC_ASSERT(!parse_rfc3339("2026-12-01T08:30:00" + text + "?"));
}

TEST(ParseDuration, ReadsWhatPeopleType) {
  EXPECT_EQ(parse_duration("4h"), hours(4));
  EXPECT_EQ(parse_duration("30m"), minutes(30));
  EXPECT_EQ(parse_duration("90s"), seconds(90));
  EXPECT_EQ(parse_duration("7d"), days(7));
  EXPECT_EQ(parse_duration("2w"), days(14));
  EXPECT_EQ(parse_duration("1h30m"), minutes(90));
  EXPECT_EQ(parse_duration("250ms"), milliseconds(250));
  EXPECT_EQ(parse_duration("3653d"), days(3653));
}

TEST(ParseDuration, RefusesTheRest) {
  for (const char* text : {"", "4", "h", "0s", "0h0m", "-4h", "4 h", "4.5h", "30m1h", "1h1h",
                           "3654d", "87673h", "99999999999999999999s", "4H", "4hours", "4h "}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(ForPeople, ShowsTheTwoLargestUnits) {
  EXPECT_EQ(for_people(minutes(200), Language::en), "3 h 20 min");
  EXPECT_EQ(for_people(minutes(200), Language::zh), "3 小时 20 分钟");
  EXPECT_EQ(for_people(seconds(45), Language::en), "45 s");
  EXPECT_EQ(for_people(milliseconds(45'678), Language::en), "45 s");
  EXPECT_EQ(for_people(milliseconds(678), Language::en), "678 ms");
  EXPECT_EQ(for_people(hours(52), Language::en), "2 d 4 h");
  EXPECT_EQ(for_people(days(2) + minutes(5), Language::en), "2 d");
  EXPECT_EQ(for_people(seconds(61), Language::en), "1 min 1 s");
  EXPECT_EQ(for_people(Duration{}, Language::en), "0 s");
  EXPECT_EQ(for_people(seconds(-61), Language::en), "-1 min 1 s");
  EXPECT_EQ(for_people(Duration{INT64_MIN}, Language::zh).front(), '-');
}

}  // namespace
}  // namespace cardhour
