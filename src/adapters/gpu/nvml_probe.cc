#include "adapters/gpu/nvml_probe.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <tuple>
#include <utility>

#include "adapters/gpu/nvml.h"

namespace cardhour {
namespace {

using nvml::Functions;

// Calls to one card. Remembers the first failure that makes the card unfit.
class CardReader {
 public:
  CardReader(const Functions& call, unsigned int index) : call_(call) {
    card_.index = static_cast<int>(index);
    if (check(call.device_by_index(index, &device_))) read();
  }
  ProbedCard take() { return std::move(card_); }

 private:
  void read();
  void read_memory();
  void read_compute_capability();
  std::string text(nvml::Return (*function)(nvml::Device, char*, unsigned int));
  std::string pci_address();
  // True on success. Lack of support is not a fault.
  bool check(nvml::Return code);

  const Functions& call_;
  nvml::Device device_ = nullptr;
  ProbedCard card_;
};

bool CardReader::check(nvml::Return code) {
  if (code == nvml::kSuccess) return true;
  const bool harmless = code == nvml::kNotSupported || code == nvml::kFunctionNotFound ||
                        code == nvml::kNoData || code == nvml::kArgumentVersionMismatch;
  if (!harmless && card_.fault.empty()) card_.fault = nvml::return_name(code);
  return false;
}

std::optional<int> numa_node_of(const std::string& pci_address) {
  const std::string path = "/sys/bus/pci/devices/" + pci_address + "/numa_node";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return std::nullopt;
  char text[16] = {};
  const size_t bytes = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  int node = -1;  // what the kernel says when there is none
  std::from_chars(text, text + bytes, node);
  if (node < 0) return std::nullopt;
  return node;
}

void CardReader::read() {
  card_.uuid.text = text(call_.device_uuid);
  card_.name = text(call_.device_name);
  card_.pci_address = pci_address();
  read_memory();
  read_compute_capability();
  if (!card_.pci_address.empty()) card_.numa_node = numa_node_of(card_.pci_address);
  if (card_.uuid.empty() && card_.fault.empty()) card_.fault = "NO_UUID";
}

std::string CardReader::text(nvml::Return (*function)(nvml::Device, char*, unsigned int)) {
  char buffer[nvml::kTextBytes] = {};
  if (!check(function(device_, buffer, sizeof buffer - 1))) return "";
  return buffer;
}

std::string CardReader::pci_address() {
  nvml::PciInfo info{};
  if (!check(call_.device_pci_info(device_, &info))) return "";
  // The text forms of NVML have eight digits of domain and upper case; sysfs has neither.
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%04x:%02x:%02x.0", info.domain, info.bus, info.device);
  return buffer;
}

void CardReader::read_memory() {
  // Version 2 first: version 1 counts the driver's own reserve as used, so that an empty
  // card does not look empty.
  nvml::MemoryV2 v2{};
  v2.version = nvml::kMemoryV2Version;
  if (call_.device_memory_v2 != nullptr && check(call_.device_memory_v2(device_, &v2))) {
    card_.memory_total_bytes = static_cast<int64_t>(v2.total);
    card_.memory_used_bytes = static_cast<int64_t>(v2.used);
    return;
  }
  nvml::Memory v1{};
  if (call_.device_memory != nullptr && check(call_.device_memory(device_, &v1))) {
    card_.memory_total_bytes = static_cast<int64_t>(v1.total);
    card_.memory_used_bytes = static_cast<int64_t>(v1.used);
  }
}

void CardReader::read_compute_capability() {
  if (call_.device_compute_capability == nullptr) return;
  int major = 0;
  int minor = 0;
  if (!check(call_.device_compute_capability(device_, &major, &minor))) return;
  card_.compute_capability = std::to_string(major) + "." + std::to_string(minor);
}

void read_versions(const Functions& call, ProbedGpus& gpus) {
  char driver[nvml::kTextBytes] = {};
  if (call.driver_version != nullptr &&
      call.driver_version(driver, sizeof driver - 1) == nvml::kSuccess) {
    gpus.driver_version = driver;
  }
  int cuda = 0;  // 12040 is 12.4
  if (call.cuda_version != nullptr && call.cuda_version(&cuda) == nvml::kSuccess) {
    gpus.cuda_version = std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
  }
}

Result<ProbedGpus> read_cards(const nvml::Library& library) {
  const Functions& call = library.call();
  ProbedGpus gpus;
  gpus.simulated = library.is_simulated();
  read_versions(call, gpus);

  unsigned int count = 0;
  if (const auto code = call.device_count(&count); code != nvml::kSuccess)
    return nvml::driver_refuses(code);
  for (unsigned int index = 0; index < count; ++index) {
    gpus.cards.push_back(CardReader(call, index).take());
  }
  std::ranges::sort(gpus.cards, {},
                    [](const ProbedCard& card) { return std::tie(card.pci_address, card.index); });
  return gpus;
}

}  // namespace

NvmlProbe::NvmlProbe(std::string library_path) : library_path_(std::move(library_path)) {}

Result<ProbedGpus> NvmlProbe::probe() {
  auto library = nvml::Library::open(library_path_);
  if (!library && library.error().code == ErrorCode::not_found) return ProbedGpus{};
  if (!library) return fail(std::move(library.error()));

  const auto code = library->call().init();
  if (code == nvml::kDriverNotLoaded || code == nvml::kLibraryNotFound) return ProbedGpus{};
  if (code != nvml::kSuccess) return nvml::driver_refuses(code);
  auto gpus = read_cards(*library);
  library->call().shutdown();
  return gpus;
}

}  // namespace cardhour
