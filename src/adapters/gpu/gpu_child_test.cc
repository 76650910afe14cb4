// The child process is this test's own program: see main below.
#include "adapters/gpu/gpu_child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "adapters/gpu/child_probe.h"

namespace cardhour {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kLibrary = CARDHOUR_NVML_SIM_LIBRARY;

bool eventually(const std::function<bool()>& holds) {
  const auto end = steady_clock::now() + std::chrono::seconds(20);
  while (!holds()) {
    if (steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

class ChildProbeTest : public testing::Test {
 protected:
  ChildProbeTest() : path_(testing::TempDir() + "cardhour_child_" + std::to_string(getpid())) {
    setenv("CARDHOUR_NVML_SIM_FILE", path_.c_str(), 1);
  }
  ~ChildProbeTest() override {
    unsetenv("CARDHOUR_NVML_SIM_FILE");
    std::remove(path_.c_str());
  }
  void cards(const std::string& text) { std::ofstream(path_) << text << "\n"; }
  static ChildProbeOptions options(const std::string& lock = "") {
    return {.command = {"/proc/self/exe", "gpu-reader", "--library", kLibrary, "--lock", lock},
            .patience = milliseconds(1'000),
            .first_deadline = milliseconds(1'500),
            .deadline = milliseconds(1'500)};
  }

  std::string path_;
};

TEST_F(ChildProbeTest, AnswersAsTheDriverDoes) {
  cards("2xRTX4090,A100-80G\ncard=2 util=70 procs=4000000000:1024");
  ChildProbe probe(options());
  const auto gpus = probe.probe();
  ASSERT_TRUE(gpus) << gpus.error().what.en;
  ASSERT_EQ(gpus->cards.size(), 3u);
  EXPECT_EQ(gpus->cards[2].name, "NVIDIA A100-SXM4-80GB (SIMULATED)");
  EXPECT_EQ(gpus->cards[2].compute_capability, "8.0");
  EXPECT_EQ(gpus->driver_version, "550.54.14-SIMULATED");
  EXPECT_TRUE(gpus->simulated);

  const auto sample = probe.sample();
  ASSERT_TRUE(sample) << sample.error().what.en;
  EXPECT_EQ(sample->cards[2].reading.gpu_percent, 70);
  EXPECT_EQ(sample->cards[2].uuid, gpus->cards[2].uuid.text);
  ASSERT_EQ(sample->cards[2].processes.size(), 1u);
  EXPECT_EQ(sample->cards[2].processes[0].uid, std::nullopt);  // no such process
}

TEST_F(ChildProbeTest, ARefusalKeepsItsCodeAndItsCureInBothLanguages) {
  cards("init=mismatch\nH100");
  ChildProbe probe(options());
  for (int i = 0; i < 2; ++i) {
    const auto sample = probe.sample();
    ASSERT_FALSE(sample);
    EXPECT_EQ(sample.error().code, ErrorCode::engine_failed);
    EXPECT_NE(sample.error().what.en.find("LIB_RM_VERSION_MISMATCH"), std::string::npos);
    EXPECT_NE(sample.error().next.zh, "");
  }
  cards("H100");
  EXPECT_EQ(probe.sample()->cards.size(), 1u);
}

TEST_F(ChildProbeTest, ACallThatHangsCostsItsPatienceOnceAndNothingAfterwards) {
  cards("2xRTX4090");
  ChildProbe probe(options());
  ASSERT_TRUE(probe.sample());
  cards("2xRTX4090\ncard=1 hang=util");
  const auto begin = steady_clock::now();
  const auto hung = probe.sample();
  EXPECT_LT(steady_clock::now() - begin, milliseconds(1'900));
  ASSERT_FALSE(hung);
  EXPECT_NE(hung.error().what.en.find("has not answered"), std::string::npos);

  const pid_t stuck = probe.child();
  const auto again = steady_clock::now();
  EXPECT_FALSE(probe.probe());
  EXPECT_FALSE(probe.sample());
  EXPECT_LT(steady_clock::now() - again, milliseconds(400));
  EXPECT_EQ(probe.child(), stuck);  // no second one beside it

  // Past its deadline it is killed, and when the driver answers again so does the probe.
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(probe.probe());
    return probe.child() != stuck;
  }));
  EXPECT_EQ(::kill(stuck, 0), -1);
  cards("2xRTX4090");
  EXPECT_TRUE(eventually([&] { return probe.sample().has_value(); }));
}

TEST_F(ChildProbeTest, AHangingStartIsTheSame) {
  cards("init=hang\nH100");
  ChildProbe probe(options());
  EXPECT_FALSE(probe.probe());
  cards("H100");
  EXPECT_TRUE(eventually([&] { return probe.probe().has_value(); }));
}

TEST_F(ChildProbeTest, AnErrorReportThatComesLateIsNotLost) {
  cards("H100");
  ChildProbeOptions slow = options();
  slow.patience = milliseconds(300);
  slow.deadline = milliseconds(20'000);
  ChildProbe probe(slow);
  ASSERT_TRUE(eventually([&] { return probe.sample().has_value(); }));
  cards("H100\ncard=0 slow=40 xids=63");
  ASSERT_FALSE(probe.sample());
  GpuSample late;
  ASSERT_TRUE(eventually([&] {
    auto sample = probe.sample();
    if (sample) late = *sample;
    return sample.has_value();
  }));
  ASSERT_EQ(late.xids.size(), 1u);
  EXPECT_EQ(late.xids[0].code, 63);
}

TEST_F(ChildProbeTest, OneThatStillHangsKeepsTheNextServersAway) {
  const std::string lock = path_ + ".lock";
  cards("init=hang\nH100");
  ChildProbe first(options(lock));
  EXPECT_FALSE(first.probe());
  cards("H100");
  ChildProbeOptions patient = options(lock);
  patient.patience = milliseconds(5'000);
  ChildProbe second(patient);
  const auto refused = second.probe();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.en.find("still hangs"), std::string::npos);
  std::remove(lock.c_str());
}

TEST_F(ChildProbeTest, AChildThatEndsOrTalksNonsenseIsAnError) {
  ChildProbeOptions dies = options();
  dies.command = {"/bin/false"};
  ChildProbe dead(dies);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(dead.probe());
  ChildProbeOptions echoes = options();
  echoes.command = {"/bin/cat"};
  ChildProbe echo(echoes);
  const auto nonsense = echo.sample();
  ASSERT_FALSE(nonsense);
  EXPECT_EQ(nonsense.error().code, ErrorCode::engine_failed);
  ChildProbeOptions missing = options();
  missing.command = {"/nonexistent/program"};
  EXPECT_FALSE(ChildProbe(missing).probe());
}

TEST_F(ChildProbeTest, AKilledChildIsReplaced) {
  cards("H100");
  ChildProbe probe(options());
  ASSERT_TRUE(probe.probe());
  ::kill(probe.child(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return probe.probe().has_value(); }));
}

TEST(GpuAnswer, ComesBackAsItWas) {
  GpuSample sample;
  sample.simulated = true;
  CardSample card;
  card.uuid = "GPU-a";
  card.fault = "GPU_IS_LOST";
  card.reading.gpu_percent = 0;
  card.is_divided = true;
  card.slices = {{"MIG-a", 1, 0, 5, std::nullopt}};
  card.processes = {{.pid = 7, .container = "i0", .uid = 1000, .user = "\"u\\"}};
  sample.cards = {card};
  sample.xids = {{"GPU-a", 79}};
  const auto back = sample_answer(gpu_answer_text(Result<GpuSample>(sample)));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, sample);
  for (const char* bad : {"", "[]", "{}", "{\"error\":3}", "{\"simulated\":1}"}) {
    EXPECT_FALSE(sample_answer(bad)) << bad;
    EXPECT_FALSE(probe_answer(bad)) << bad;
  }
}

}  // namespace
}  // namespace cardhour

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "gpu-reader") {
    return cardhour::gpu_child_main(argc - 1, argv + 1);
  }
  ::signal(SIGPIPE, SIG_IGN);  // as the server does
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
