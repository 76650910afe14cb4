#include "domain/estimate/training.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace cardhour::estimate {
namespace {

const EstimateRules kRules;

TrainingRequest example() {
  TrainingRequest request;
  request.step_seconds = 0.9;
  request.samples = 50'000;
  request.batch = 8;
  request.epochs = 3;
  return request;
}

// ---- the rules, one test a number ----

TEST(RuleOfThumb, FiftyThousandSamplesBy8Times3Are18750Steps) {
  EXPECT_DOUBLE_EQ(training_of(example(), kRules).steps, 18'750);
}
TEST(RuleOfThumb, At0_9SecondsThatIs4_7Hours) {
  EXPECT_EQ(fmt::format("{:.1f}", training_of(example(), kRules).run_seconds / 3600), "4.7");
}
TEST(RuleOfThumb, TrialsAre2_5WhenNewAnd1_5WhenKnown) {
  TrainingRequest request = example();
  EXPECT_DOUBLE_EQ(training_of(request, kRules).trial_factor, 2.5);
  EXPECT_DOUBLE_EQ(training_of(request, kRules).total_seconds, 2.5 * 16'875);
  request.known = true;
  EXPECT_DOUBLE_EQ(training_of(request, kRules).total_seconds, 1.5 * 16'875);
}
TEST(RuleOfThumb, CardHoursComeFirst) {
  TrainingRequest request = example();
  request.cards = 2;
  const Training training = training_of(request, kRules);
  EXPECT_DOUBLE_EQ(training.card_seconds, 2 * training.total_seconds);
  EXPECT_TRUE(training.sentence.en.starts_with("23.4 card-hours")) << training.sentence.en;
}
TEST(RuleOfThumb, TuningOneCardGives1_5To2) {
  const Training training = training_of(example(), kRules);
  EXPECT_DOUBLE_EQ(*training.tuned_seconds_low, 16'875 / 2.0);
  EXPECT_DOUBLE_EQ(*training.tuned_seconds_high, 16'875 / 1.5);
  TrainingRequest tuned = example();
  tuned.tuned = true;
  EXPECT_FALSE(training_of(tuned, kRules).tuned_seconds_low.has_value());
}
TEST(RuleOfThumb, CardsMultiplyBy1_8And3And4_5) {
  for (const auto& [cards, speedup] :
       {std::pair{1, 1.0}, std::pair{2, 1.8}, std::pair{4, 3.0}, std::pair{8, 4.5}}) {
    EXPECT_DOUBLE_EQ(speedup_of(kRules, {}, cards), speedup) << cards;
  }
  EXPECT_GT(speedup_of(kRules, {}, 3), 1.8);
  EXPECT_LT(speedup_of(kRules, {}, 3), 3.0);
  EXPECT_GT(speedup_of(kRules, {}, 16), 4.5);
}
TEST(RuleOfThumb, MeasuringTakes200StepsASmokeRun100SamplesAnd10To20Steps) {
  const std::string first = training_of(example(), kRules).advice.front().en;
  EXPECT_NE(first.find("100 samples, 10 to 20 steps"), std::string::npos) << first;
  EXPECT_NE(first.find("200 steps"), std::string::npos) << first;
}

TEST(RuleOfThumb, CheckpointsEvery15To30MinutesKeep3OnTheDataDisk) {
  const auto advice = training_of(example(), kRules).advice;
  EXPECT_TRUE(std::any_of(advice.begin(), advice.end(), [](const Text& each) {
    return each.en.starts_with("Save a checkpoint every 15 to 30 min on the data disk") &&
           each.en.find("keep 3") != std::string::npos;
  }));
}

TEST(Training, SaysWhereMoreCardsStopPaying) {
  EXPECT_EQ(training_of(example(), kRules).pays_up_to_cards, 4);
  TrainingRequest fast = example();
  fast.measured = MeasuredSpeedup{1.95, 2};
  EXPECT_EQ(training_of(fast, kRules).pays_up_to_cards, 8);
  TrainingRequest slow = example();
  slow.measured = MeasuredSpeedup{1.3, 2};
  EXPECT_EQ(training_of(slow, kRules).pays_up_to_cards, 1);
}

TEST(Training, AMeasuredSpeedupHoldsWhereItWasMeasured) {
  EXPECT_NEAR(speedup_of(kRules, MeasuredSpeedup{3.4, 4}, 4), 3.4, 1e-12);
  EXPECT_NEAR(speedup_of(kRules, MeasuredSpeedup{3.4, 4}, 1), 1, 1e-12);
}

TEST(Training, AStepMeasuredOnSeveralCardsIsBroughtBackToOne) {
  TrainingRequest request = example();
  request.cards = 2;
  const Training training = training_of(request, kRules);
  EXPECT_DOUBLE_EQ(training.one_card_seconds, 1.8 * 16'875);
  EXPECT_DOUBLE_EQ(training.scaling[1].run_seconds, 16'875);
}

TEST(Training, AnUnfinishedBatchIsAStep) {
  TrainingRequest request = example();
  request.samples = 17;
  request.epochs = 1;
  EXPECT_DOUBLE_EQ(training_of(request, kRules).steps, 3);
}

TEST(Training, RefusesWhatCannotBe) {
  const auto field = [](auto change) {
    TrainingRequest request = example();
    change(request);
    const Status status = check(request);
    return status ? std::string() : status.error().field;
  };
  EXPECT_EQ(field([](TrainingRequest&) {}), "");
  EXPECT_EQ(field([](TrainingRequest& r) { r.step_seconds = 0; }), "step_seconds");
  EXPECT_EQ(field([](TrainingRequest& r) { r.step_seconds = std::nan(""); }), "step_seconds");
  EXPECT_EQ(field([](TrainingRequest& r) { r.samples = 0; }), "samples");
  EXPECT_EQ(field([](TrainingRequest& r) { r.batch = -1; }), "batch");
  EXPECT_EQ(field([](TrainingRequest& r) { r.steps = 1'000'000'000'000; }), "steps");
  EXPECT_EQ(field([](TrainingRequest& r) { r.measured = MeasuredSpeedup{3, 2}; }), "speedup");
  EXPECT_EQ(field([](TrainingRequest& r) { r.measured = MeasuredSpeedup{1, 1}; }), "speedup_cards");
}

// ---- logs ----

std::vector<StepPoint> points(std::string_view log) {
  const auto parsed = parse_training_log(log);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().what.en);
  return parsed ? *parsed : std::vector<StepPoint>{};
}

TEST(TrainingLog, ReadsWhatTrainersWrite) {
  const char* logs[] = {
      "10 9.0\n20 18.0\n30 27.0\n",
      "10,9.0\r\n20,18.0\r\n30,27.0\r\n",
      "step,seconds\n10, 9\n20, 18\n30, 27\n",
      "{\"step\": 10, \"loss\": 2.1, \"elapsed\": 9.0}\n{\"step\": 20, \"elapsed\": 18.0}\n"
      "{\"loss\": 1.9, \"step\": 30, \"elapsed\": 27}\n",
      "{'global_step': 10, '_runtime': 9}\n{'global_step': 20, '_runtime': 18}\n"
      "{'global_step': 30, '_runtime': 27}\n",
      "  1%|1 | 10/1000 [00:09<14:51, 1.11it/s]\r  2%|2 | 20/1000 [00:18<14:42, 1.11it/s]\r"
      "  3%|3 | 30/1000 [00:27<14:33, 1.11it/s]\n",
      "epoch 0 step 10 loss 2.10 900 ms/step\nepoch 0 step 20 loss 2.00 900 ms/step\n"
      "epoch 0 step 30 loss 1.90 0.9 s/step\n",
  };
  for (const char* log : logs) {
    const auto read = points(log);
    ASSERT_EQ(read.size(), 3u) << log;
    EXPECT_NEAR((read[2].seconds - read[0].seconds) / (read[2].step - read[0].step), 0.9, 1e-9)
        << log;
  }
}

TEST(TrainingLog, SaysWhatWasExpected) {
  for (const char* log : {"", "hello\nworld\n", "10 9\n20 18\n", "1\n2\n3\n", "step ten\n"}) {
    const auto parsed = parse_training_log(log);
    ASSERT_FALSE(parsed.has_value()) << log;
    EXPECT_EQ(parsed.error().field, "log");
    EXPECT_NE(parsed.error().next.en.find("120 108.5"), std::string::npos);
  }
}

TEST(TrainingLog, DropsTheWarmUpAndKeepsThePauses) {
  std::string log;
  double at = 0;
  for (int step = 1; step <= 200; ++step) {
    at += step <= 5 ? 10 : 0.9;   // compiling
    if (step % 50 == 0) at += 9;  // a checkpoint
    log += fmt::format("{} {:.3f}\n", step, at);
  }
  const StepFit fit = fit_steps(points(log));
  EXPECT_EQ(fit.points, 200);
  EXPECT_EQ(fit.warmup_points, 4);
  EXPECT_NEAR(fit.median_seconds, 0.9, 1e-6);
  EXPECT_NEAR(fit.mean_seconds, 0.9 + 4 * 9 / 195.0, 1e-3);
  EXPECT_GE(fit.slow_seconds, fit.mean_seconds);
}

RC_GTEST_PROP(TrainingLogProperty, AnyBytesAreReadOrRefused, (const std::string& text)) {
  const auto parsed = parse_training_log(text);
  if (!parsed) return;
  const StepFit fit = fit_steps(*parsed);
  RC_ASSERT(fit.median_seconds > 0);
  RC_ASSERT(std::isfinite(fit.mean_seconds));
}
// Text that looks like a log, with anything between its words.
RC_GTEST_PROP(TrainingLogProperty, AnyLinesOfItsWordsAreReadOrRefused, ()) {
  const auto words = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("step", " ", "10", "20.5", ":", "\n", "elapsed", "/", " [", "<",
                                    "01:", "s/it", "it/s", "=", "\"", "1e308", ".", "-3", "\r"));
  std::string text;
  for (const std::string& word : words) text += word;
  const auto parsed = parse_training_log(text);
  if (parsed) RC_ASSERT(std::isfinite(fit_steps(*parsed).mean_seconds));
}
RC_GTEST_PROP(TrainingProperty, TimeIsLinearInSteps, ()) {
  TrainingRequest request = example();
  request.steps = *rc::gen::inRange<int64_t>(1, 10'000'000);
  TrainingRequest twice = request;
  twice.steps = *request.steps * 2;
  RC_ASSERT(std::abs(training_of(twice, kRules).total_seconds -
                     2 * training_of(request, kRules).total_seconds) < 1e-3);
}
RC_GTEST_PROP(TrainingProperty, MoreCardsAreNeverSlower, ()) {
  const int cards = *rc::gen::inRange(1, 63);
  RC_ASSERT(speedup_of(kRules, {}, cards + 1) >= speedup_of(kRules, {}, cards));
  RC_ASSERT(speedup_of(kRules, {}, cards) <= cards);
}

}  // namespace
}  // namespace cardhour::estimate
