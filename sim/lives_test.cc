// The simulation's own tools: scripts that live again what a seed lived, and shrinking.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "sim/life.h"
#include "sim/registry.h"
#include "sim/shrink.h"

namespace cardhour {
namespace {

const LifeOptions kShort{.steps = 60};

TEST(Script, IsReadAsItIsWritten) {
  Script script;
  script.seed = 18'446'744'073'709'551'615ULL;
  script.unit = minutes(1);
  script.lines = {"account r0 300", "pass 17"};
  EXPECT_EQ(*parse_script("# a remark\n\n" + to_text(script)), script);
  EXPECT_FALSE(parse_script(""));
  EXPECT_FALSE(parse_script("account r0 300\n"));
  EXPECT_FALSE(parse_script("world seed 1 unit 0\n"));
}

TEST(Script, ArmsWhatStruckBeforeTheStepThatItStruck) {
  EXPECT_EQ(lines_of_journal("step\ndid a\nstep\ndid b\nhit x\nhit y\ndid pass 1\nstep\ndid c\n"),
            (std::vector<std::string>{"a", "x", "y", "b", "pass 1", "c"}));
}

// What the script of a seed does is what the seed did: so a failure can be made shorter.
TEST(Script, LivesAgainWhatTheSeedLived) {
  int struck = 0;
  for (const uint64_t seed : {3u, 7u, 11u}) {
    const Birth first(kShort, seed);
    const Outcome once = ended(first);
    ASSERT_TRUE(once.broken.empty()) << once.broken[0];
    const Birth second(kShort, first.script());
    const Outcome again = ended(second);
    ASSERT_TRUE(again.broken.empty()) << again.broken[0];
    for (const auto& [name, times] : once.paths) {
      if (name.starts_with("did: fault") || name.starts_with("did: between")) continue;
      const auto found = again.paths.find(name);
      EXPECT_EQ(found == again.paths.end() ? 0 : found->second, times) << seed << ": " << name;
      if (name.starts_with("fault: ")) struck += times;
    }
  }
  EXPECT_GT(struck, 0) << "the seeds are to have faults";
}

TEST(Script, PlaysWithLinesLeftOut) {
  const Birth whole(kShort, 5);
  ASSERT_TRUE(ended(whole).broken.empty());
  Script every_other = whole.script();
  std::vector<std::string> lines;
  for (size_t i = 0; i < every_other.lines.size(); i += 2) lines.push_back(every_other.lines[i]);
  every_other.lines = lines;
  const Outcome outcome = ended(Birth(kShort, every_other));
  EXPECT_TRUE(outcome.broken.empty()) << outcome.broken[0];
}

TEST(Birth, AFailedCheckIsAnOutcome) {
  Script script;
  script.lines = {"nonsense 1"};
  const Outcome outcome = ended(Birth(kShort, script));
  ASSERT_EQ(outcome.broken.size(), 1u);
  EXPECT_NE(outcome.broken[0].find("no such action: nonsense 1"), std::string::npos)
      << outcome.broken[0];
}

TEST(Shrink, FindsTheLinesThatMatter) {
  std::vector<std::string> lines;
  for (int i = 0; i < 400; ++i) lines.push_back(std::to_string(i));
  int attempts = 0;
  const auto has = [](const std::vector<std::string>& all, const char* one) {
    return std::ranges::find(all, one) != all.end();
  };
  const auto fails = [&](const std::vector<std::string>& some) {
    ++attempts;
    return has(some, "17") && has(some, "200") && has(some, "399");
  };
  EXPECT_EQ(shrink(lines, fails, [] { return true; }),
            (std::vector<std::string>{"17", "200", "399"}));
  EXPECT_LT(attempts, 200);
}

TEST(Shrink, EndsWhenTheTimeIsUp) {
  const std::vector<std::string> lines = {"a", "b", "c"};
  EXPECT_EQ(shrink(
                lines, [](const auto&) { return true; }, [] { return false; }),
            lines);
}

TEST(Shrink, TellsFailuresApartByTheirWords) {
  EXPECT_EQ(kind_of_failure("card GPU-1 has two owners"),
            kind_of_failure("card GPU-2 has two owners"));
  EXPECT_NE(kind_of_failure("card GPU-1 has two owners"), kind_of_failure("i1 has 2 claims"));
}

TEST(Registry, NamesEachPathOnce) {
  auto paths = registered_paths();
  std::ranges::sort(paths);
  EXPECT_EQ(std::ranges::adjacent_find(paths), paths.end());
  EXPECT_GT(paths.size(), 200u);
}

}  // namespace
}  // namespace cardhour
