#include "adapters/gpu/nvml_probe.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "adapters/gpu/nvml.h"
#include "adapters/gpu/simulated_cards.h"

namespace cardhour {
namespace {

constexpr const char* kLibrary = CARDHOUR_NVML_SIM_LIBRARY;
constexpr int64_t kGi = int64_t{1} << 30;

Result<ProbedGpus> probe(const std::string& spec) {
  setenv("CARDHOUR_NVML_SIM", spec.c_str(), 1);
  auto gpus = NvmlProbe(kLibrary).probe();
  unsetenv("CARDHOUR_NVML_SIM");
  return gpus;
}

std::string output_of(const std::string& command) {
  std::string out;
  std::FILE* pipe = popen(command.c_str(), "r");
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) out.push_back(static_cast<char>(c));
  EXPECT_EQ(pclose(pipe), 0) << command;
  return out;
}

TEST(NvmlProbe, WithoutALibraryThereAreNoCards) {
  const auto gpus = NvmlProbe("libno-such-thing.so.1").probe();
  ASSERT_TRUE(gpus);
  EXPECT_TRUE(gpus->cards.empty());
  EXPECT_EQ(gpus->driver_version, "");
  EXPECT_FALSE(gpus->simulated);
}

TEST(NvmlProbe, RefusesALibraryThatIsNotNvml) {
  const auto gpus = NvmlProbe("libc.so.6").probe();
  ASSERT_FALSE(gpus);
  EXPECT_EQ(gpus.error().code, ErrorCode::engine_failed);
}

TEST(NvmlProbe, ReadsTheShortForm) {
  const auto gpus = probe("8xRTX4090, 2xA100-80G");
  ASSERT_TRUE(gpus);
  EXPECT_TRUE(gpus->simulated);
  EXPECT_EQ(gpus->driver_version, "550.54.14-SIMULATED");
  EXPECT_EQ(gpus->cuda_version, "12.4");
  ASSERT_EQ(gpus->cards.size(), 10u);
  EXPECT_EQ(gpus->cards[0].name, "NVIDIA GeForce RTX 4090 (SIMULATED)");
  EXPECT_EQ(gpus->cards[0].pci_address, "0000:10:00.0");
  EXPECT_EQ(gpus->cards[0].memory_total_bytes, 24 * kGi);
  EXPECT_EQ(gpus->cards[0].memory_used_bytes, 0);
  EXPECT_EQ(gpus->cards[0].compute_capability, "8.9");
  EXPECT_EQ(gpus->cards[9].pci_address, "0000:19:00.0");
  EXPECT_EQ(gpus->cards[9].memory_total_bytes, 80 * kGi);
  EXPECT_EQ(gpus->cards[9].index, 9);

  std::set<std::string> uuids;
  for (const ProbedCard& card : gpus->cards) {
    EXPECT_EQ(card.uuid.text.size(), 40u);
    EXPECT_EQ(card.uuid.text.substr(0, 4), "GPU-");
    EXPECT_EQ(card.fault, "");
    uuids.insert(card.uuid.text);
  }
  EXPECT_EQ(uuids.size(), 10u);
}

TEST(NvmlProbe, UuidsAreTheSameEveryTimeAndDifferBySeed) {
  const auto once = probe("2xRTX4090");
  const auto again = probe("RTX4090,RTX4090");
  const auto elsewhere = probe("seed=host2; 2xRTX4090");
  ASSERT_TRUE(once && again && elsewhere);
  for (size_t i : {0, 1}) {
    EXPECT_EQ(once->cards[i].uuid, again->cards[i].uuid);
    EXPECT_NE(once->cards[i].uuid, elsewhere->cards[i].uuid);
  }
}

TEST(NvmlProbe, ReadsTheLongForm) {
  const auto gpus = probe(R"(
# what an instance sees
driver=535.104.05
cuda=12.2
uuid=GPU-b name=NVIDIA H20 pci=0001:AB:00.0 memory=1024 used=24 cc=9.0
uuid=GPU-a name=Tesla V100 pci=0000:3b:00.0 memory=2048
)");
  ASSERT_TRUE(gpus) << gpus.error().what.en;
  EXPECT_EQ(gpus->driver_version, "535.104.05-SIMULATED");
  EXPECT_EQ(gpus->cuda_version, "12.2");
  ASSERT_EQ(gpus->cards.size(), 2u);
  EXPECT_EQ(gpus->cards[0].uuid.text, "GPU-a");
  EXPECT_EQ(gpus->cards[0].index, 1);
  EXPECT_EQ(gpus->cards[0].memory_used_bytes, 0);
  EXPECT_EQ(gpus->cards[1].name, "NVIDIA H20 (SIMULATED)");
  EXPECT_EQ(gpus->cards[1].pci_address, "0001:ab:00.0");
  EXPECT_EQ(gpus->cards[1].memory_used_bytes, 24);
}

TEST(NvmlProbe, WhatTheDriverKeepsForItselfIsNotUsed) {
  const auto gpus = probe("uuid=GPU-a name=A memory=1024 reserved=300 used=24");
  ASSERT_TRUE(gpus);
  EXPECT_EQ(gpus->cards[0].memory_total_bytes, 1024);
  EXPECT_EQ(gpus->cards[0].memory_used_bytes, 24);
}

TEST(NvmlProbe, OneLostCardDoesNotHideTheOthers) {
  const auto gpus = probe(
      "uuid=GPU-a name=A pci=0000:01:00.0 memory=1024 cc=8.9\n"
      "uuid=GPU-b name=B pci=0000:02:00.0 memory=1024 cc=8.9 fault=lost\n"
      "uuid=GPU-c name=C pci=0000:03:00.0 memory=1024 cc=8.9 fault=gone\n"
      "uuid=GPU-d name=D pci=0000:04:00.0 memory=1024 cc=8.9\n");
  ASSERT_TRUE(gpus);
  ASSERT_EQ(gpus->cards.size(), 4u);

  const ProbedCard& gone = gpus->cards[0];  // it has no address, which sorts first
  EXPECT_EQ(gone.fault, "GPU_IS_LOST");
  EXPECT_EQ(gone.index, 2);
  EXPECT_TRUE(gone.uuid.empty());

  const ProbedCard& lost = gpus->cards[2];
  EXPECT_EQ(lost.uuid.text, "GPU-b");
  EXPECT_EQ(lost.fault, "GPU_IS_LOST");
  EXPECT_EQ(lost.memory_total_bytes, std::nullopt);
  EXPECT_EQ(lost.compute_capability, std::nullopt);

  for (size_t healthy : {1, 3}) {
    EXPECT_EQ(gpus->cards[healthy].fault, "");
    EXPECT_EQ(gpus->cards[healthy].memory_total_bytes, 1024);
  }
}

TEST(NvmlProbe, AnEmptySpecIsADriverWithoutCards) {
  const auto gpus = probe("");
  ASSERT_TRUE(gpus);
  EXPECT_TRUE(gpus->cards.empty());
  EXPECT_NE(gpus->driver_version, "");
}

TEST(NvmlProbe, GarbageIsRefusedNotGuessed) {
  for (const char* spec : {"8xRTX9999",
                           "RTX4090,,H20",
                           "0xRTX4090",
                           "-1xRTX4090",
                           "65xRTX4090",
                           "64xH20,H20",
                           "x",
                           "8x",
                           "hello world",
                           "uuid=GPU-a",
                           "uuid=GPU-a name=A memory=0",
                           "uuid=GPU-a name=A memory=10 used=11",
                           "uuid=GPU-a name=A memory=1 pci=zz:00.0",
                           "uuid=GPU-a name=A memory=1 pci=0000:01:00.1",
                           "uuid=MIG-a name=A memory=1",
                           "uuid=GPU-a name=A memory=1;uuid=GPU-a name=A memory=1",
                           "driver=",
                           "cuda=12",
                           "uuid=GPU-a name=A memory=1 fault=maybe",
                           "uuid=GPU-a name=A memory=1 colour=red"}) {
    EXPECT_FALSE(probe(spec)) << spec;
  }
}

TEST(NvmlProbe, ReadsTheSpecFromAFileAnewAtEachProbe) {
  const std::string path = testing::TempDir() + "cardhour_cards_" + std::to_string(getpid());
  setenv("CARDHOUR_NVML_SIM_FILE", path.c_str(), 1);
  NvmlProbe probe(kLibrary);
  std::ofstream(path) << "2xH100\n";
  EXPECT_EQ(probe.probe()->cards.size(), 2u);
  std::ofstream(path) << "H100\nL40S\nA6000\n";
  EXPECT_EQ(probe.probe()->cards.size(), 3u);
  std::remove(path.c_str());
  EXPECT_EQ(probe.probe()->cards.size(), 0u);
  unsetenv("CARDHOUR_NVML_SIM_FILE");
}

TEST(SimulatedNvml, ChecksItsArguments) {
  setenv("CARDHOUR_NVML_SIM", "H20", 1);
  const auto library = nvml::Library::open(kLibrary);
  ASSERT_TRUE(library);
  const nvml::Functions& call = library->call();
  unsigned int count = 9;
  EXPECT_EQ(call.device_count(&count), nvml::kUninitialized);
  ASSERT_EQ(call.init(), nvml::kSuccess);
  EXPECT_EQ(call.device_count(nullptr), nvml::kInvalidArgument);

  nvml::Device device = nullptr;
  EXPECT_EQ(call.device_by_index(1, &device), nvml::kInvalidArgument);
  ASSERT_EQ(call.device_by_index(0, &device), nvml::kSuccess);
  char text[41];
  EXPECT_EQ(call.device_uuid(device, text, 40), nvml::kInsufficientSize);
  EXPECT_EQ(call.device_uuid(device, text, 41), nvml::kSuccess);
  nvml::MemoryV2 memory{};
  EXPECT_EQ(call.device_memory_v2(device, &memory), nvml::kArgumentVersionMismatch);

  EXPECT_EQ(call.shutdown(), nvml::kSuccess);
  EXPECT_EQ(call.device_uuid(device, text, 41), nvml::kUninitialized);
  unsetenv("CARDHOUR_NVML_SIM");
}

TEST(SimulatedCards, WhatAnInstanceIsGivenIsWhatItSees) {
  const auto host = probe("4xRTX4090,2xA100-80G");
  ASSERT_TRUE(host);
  ProbedGpus given = *host;
  given.cards = {host->cards[1], host->cards[5]};
  const auto seen = probe(write_simulated_cards(given));
  ASSERT_TRUE(seen) << seen.error().what.en;
  EXPECT_EQ(seen->driver_version, given.driver_version);
  EXPECT_EQ(seen->cuda_version, given.cuda_version);
  ASSERT_EQ(seen->cards.size(), 2u);
  for (size_t i : {0, 1}) {
    EXPECT_EQ(seen->cards[i].uuid, given.cards[i].uuid);
    EXPECT_EQ(seen->cards[i].name, given.cards[i].name);
    EXPECT_EQ(seen->cards[i].pci_address, given.cards[i].pci_address);
    EXPECT_EQ(seen->cards[i].memory_total_bytes, given.cards[i].memory_total_bytes);
    EXPECT_EQ(seen->cards[i].compute_capability, given.cards[i].compute_capability);
  }
}

RC_GTEST_PROP(SimulatedCards, SurvivesAnyText, (const std::string& text)) {
  const auto host = parse_simulated_cards(text);
  if (host) RC_ASSERT(host->cards.size() <= 64u);
}

// What runs inside an image must start on its glibc, however old: Ubuntu 18.04 has 2.27.
TEST(CardsProgram, AndTheSimulatedLibraryNeedNoNewGlibc) {
  for (const char* path : {CARDHOUR_CARDS, CARDHOUR_NVML_SIM_LIBRARY}) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    constexpr std::string_view kMark = "GLIBC_2.";
    int found = 0;
    for (size_t at = 0; (at = bytes.find(kMark, at)) != std::string::npos; at += kMark.size()) {
      EXPECT_LE(std::atoi(bytes.c_str() + at + kMark.size()), 17) << path;
      ++found;
    }
    EXPECT_GT(found, 0) << path;
  }
}

TEST(CardsProgram, PrintsOneLineAlsoWithoutCards) {
  EXPECT_EQ(output_of("env -i LD_LIBRARY_PATH=/nonexistent " CARDHOUR_CARDS),
            "{\"driver\":\"\",\"cuda\":\"\",\"simulated\":false,\"cards\":[]}\n");
}

TEST(CardsProgram, PrintsTheCardsItSees) {
  const std::string directory = testing::TempDir() + "cardhour_lib_" + std::to_string(getpid());
  const std::string link = directory + "/libnvidia-ml.so.1";
  output_of("mkdir -p " + directory + " && ln -sf " + kLibrary + " " + link);
  const std::string command = "env -i LD_LIBRARY_PATH=" + directory +
                              " CARDHOUR_NVML_SIM='driver=1;cuda=12.4;uuid=GPU-a name=A "
                              "pci=0000:01:00.0 memory=1024 used=24' " CARDHOUR_CARDS;
  EXPECT_EQ(output_of(command),
            "{\"driver\":\"1-SIMULATED\",\"cuda\":\"12.4\",\"simulated\":true,\"cards\":["
            "{\"uuid\":\"GPU-a\",\"name\":\"A (SIMULATED)\",\"pci\":\"0000:01:00.0\","
            "\"memory_total\":1024,\"memory_used\":24,\"fault\":\"\"}]}\n");
  output_of("rm -r " + directory);
}

}  // namespace
}  // namespace cardhour
