#include "adapters/gpu/nvml_sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace cardhour {
namespace {

constexpr const char* kLibrary = CARDHOUR_NVML_SIM_LIBRARY;
constexpr int64_t kMi = int64_t{1} << 20;

Result<GpuSample> sample(const std::string& spec) {
  setenv("CARDHOUR_NVML_SIM", spec.c_str(), 1);
  auto result = NvmlSampler(kLibrary).sample();
  unsetenv("CARDHOUR_NVML_SIM");
  return result;
}

TEST(NvmlSampler, NoLibraryAndNoDriverAreNoCards) {
  EXPECT_TRUE(NvmlSampler("libno-such-thing.so.1").sample()->cards.empty());
  EXPECT_TRUE(sample("init=unloaded; 2xH100")->cards.empty());
}

TEST(NvmlSampler, ReadsWhatACardSays) {
  const auto result = sample(
      "A100-80G; card=0 util=80 membw=35 temp=71 power=310 limit=390 used=1048576000 clock=1380 "
      "memclock=1593 throttle=0x24 tx=1000 rx=2000 link=3x8 replays=4 nvtx=500 nvrx=600 ecc=7/1 "
      "remap=pending");
  ASSERT_TRUE(result) << result.error().what.en;
  EXPECT_TRUE(result->simulated);
  ASSERT_EQ(result->cards.size(), 1u);
  EXPECT_EQ(result->cards[0].fault, "");
  const CardReading& r = result->cards[0].reading;
  EXPECT_EQ(r.gpu_percent, 80);
  EXPECT_EQ(r.memory_percent, 35);
  EXPECT_EQ(r.memory_total_bytes, int64_t{80} << 30);
  EXPECT_EQ(r.memory_used_bytes, 1048576000);
  EXPECT_EQ(r.power_milliwatts, 310'000);
  EXPECT_EQ(r.power_limit_milliwatts, 390'000);
  EXPECT_EQ(r.temperature_celsius, 71);
  EXPECT_EQ(r.sm_clock_mhz, 1380);
  EXPECT_EQ(r.sm_clock_max_mhz, 1410);
  EXPECT_EQ(r.memory_clock_mhz, 1593);
  EXPECT_EQ(r.throttle_reasons, throttle::kPowerCap | throttle::kSoftwareThermal);
  EXPECT_EQ(r.pcie_sent_bytes_per_second, 1'000'000);
  EXPECT_EQ(r.pcie_received_bytes_per_second, 2'000'000);
  EXPECT_EQ(r.pcie_generation, 3);
  EXPECT_EQ(r.pcie_generation_max, 4);
  EXPECT_EQ(r.pcie_width, 8);
  EXPECT_EQ(r.pcie_width_max, 16);
  EXPECT_EQ(r.pcie_replays, 4);
  EXPECT_EQ(r.nvlinks_active, 12);
  EXPECT_EQ(r.nvlink_sent_kib, 500);
  EXPECT_EQ(r.nvlink_received_kib, 600);
  EXPECT_EQ(r.ecc_corrected, 7);
  EXPECT_EQ(r.ecc_uncorrected, 1);
  EXPECT_EQ(r.row_remap_is_pending, 1);
  EXPECT_EQ(r.row_remap_has_failed, 0);
}

TEST(NvmlSampler, NotAvailableIsUnknownAndNoFault) {
  const auto result = sample("RTX4090; card=0 na=util+power+temp+memory+pcie");
  ASSERT_TRUE(result);
  const CardSample& card = result->cards[0];
  EXPECT_EQ(card.fault, "");
  EXPECT_NE(card.uuid, "");
  EXPECT_EQ(card.reading.gpu_percent, std::nullopt);
  EXPECT_EQ(card.reading.power_milliwatts, std::nullopt);
  EXPECT_EQ(card.reading.temperature_celsius, std::nullopt);
  EXPECT_EQ(card.reading.memory_used_bytes, std::nullopt);
  EXPECT_EQ(card.reading.pcie_replays, std::nullopt);
  // A card of this kind has neither ECC nor NVLink, which is not the same as none of them.
  EXPECT_EQ(card.reading.ecc_uncorrected, std::nullopt);
  EXPECT_EQ(card.reading.nvlinks_active, std::nullopt);
  EXPECT_EQ(card.reading.sm_clock_max_mhz, 2520);
}

TEST(NvmlSampler, ALostCardDoesNotHideTheOthers) {
  const auto result = sample("3xRTX4090; card=1 fault=lost; card=2 fault=gone");
  ASSERT_TRUE(result);
  ASSERT_EQ(result->cards.size(), 2u);  // the one without a handle has no identity
  EXPECT_EQ(result->cards[0].fault, "");
  EXPECT_EQ(result->cards[0].reading.gpu_percent, 0);
  EXPECT_EQ(result->cards[1].fault, "GPU_IS_LOST");
  EXPECT_NE(result->cards[1].uuid, "");
  EXPECT_EQ(result->cards[1].reading, CardReading{});
}

TEST(NvmlSampler, ADriverNewerThanItsModuleIsToldWithItsCure) {
  const auto result = sample("init=mismatch; 2xH100");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::engine_failed);
  EXPECT_NE(result.error().what.en.find("LIB_RM_VERSION_MISMATCH"), std::string::npos);
  EXPECT_NE(result.error().next.en.find("reboot"), std::string::npos);
}

TEST(NvmlSampler, ListsProcessesAndTheirMemoryOrThatItIsUnknown) {
  std::string many = "procs=";
  for (int pid = 100; pid < 140; ++pid) many += std::to_string(pid) + ":10+";
  const auto result = sample("RTX4090; card=0 " + many + "7:na+8:3:g");
  ASSERT_TRUE(result);
  const auto& processes = result->cards[0].processes;
  ASSERT_EQ(processes.size(), 42u);
  EXPECT_EQ(processes[0].pid, 100);
  EXPECT_EQ(processes[0].memory_used_bytes, 10 * kMi);
  EXPECT_EQ(processes[0].gpu_slice, std::nullopt);
  EXPECT_EQ(processes[40].pid, 7);
  EXPECT_EQ(processes[40].memory_used_bytes, std::nullopt);
  EXPECT_TRUE(processes[41].is_graphics);
  EXPECT_EQ(processes[41].memory_used_bytes, 3 * kMi);
}

TEST(NvmlSampler, ADividedCardHasRowsAndNoUtilisationOfItsOwn) {
  const auto result = sample("A100-80G; card=0 mig=1g.10gb+2g.20gb procs=50:512@1");
  ASSERT_TRUE(result);
  const CardSample& card = result->cards[0];
  EXPECT_TRUE(card.is_divided);
  EXPECT_EQ(card.fault, "");
  EXPECT_EQ(card.reading.gpu_percent, std::nullopt);
  ASSERT_EQ(card.slices.size(), 2u);
  EXPECT_EQ(card.slices[1].uuid.substr(0, 4), "MIG-");
  EXPECT_EQ(card.slices[1].gpu_slice, 1);
  EXPECT_EQ(card.slices[1].compute_slice, 0);
  EXPECT_EQ(card.slices[1].memory_total_bytes, int64_t{20} << 30);
  EXPECT_EQ(card.slices[1].memory_used_bytes, 512 * kMi);
  EXPECT_EQ(card.slices[0].memory_used_bytes, 0);
  EXPECT_EQ(card.processes[0].gpu_slice, 1);
  EXPECT_FALSE(sample("RTX4090")->cards[0].is_divided);
}

TEST(NvmlSampler, ErrorReportsComeOnceAndInOrderAndChangesShowWithoutANewStart) {
  const std::string path = testing::TempDir() + "cardhour_sampler_" + std::to_string(getpid());
  setenv("CARDHOUR_NVML_SIM_FILE", path.c_str(), 1);
  std::ofstream(path) << "2xH100\n";
  NvmlSampler sampler(kLibrary);
  const auto before = sampler.sample();
  ASSERT_TRUE(before);
  EXPECT_TRUE(before->xids.empty());

  std::ofstream(path) << "2xH100\ncard=1 util=90 xids=13+31\n";
  const auto then = sampler.sample();
  ASSERT_EQ(then->xids.size(), 2u);
  EXPECT_EQ(then->xids[0], (XidReport{then->cards[1].uuid, 13}));
  EXPECT_EQ(then->xids[1].code, 31);
  EXPECT_EQ(then->cards[1].reading.gpu_percent, 90);
  EXPECT_TRUE(sampler.sample()->xids.empty());

  std::ofstream(path) << "2xH100\ncard=1 xids=13+31+79 fault=lost\n";
  const auto last = sampler.sample();
  ASSERT_EQ(last->xids.size(), 1u);
  EXPECT_EQ(last->xids[0].code, 79);
  EXPECT_EQ(last->cards[1].fault, "GPU_IS_LOST");
  unsetenv("CARDHOUR_NVML_SIM_FILE");
  std::remove(path.c_str());
}

}  // namespace
}  // namespace cardhour
