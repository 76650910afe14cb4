// libcardhour-nvml-sim.so: NVML's C interface over cards that do not exist, so that the
// whole product, and tools built on NVML, run on machines without a GPU. Installed under
// the name libnvidia-ml.so.1 where such tools look for it.
// The cards come from $CARDHOUR_NVML_SIM, else the file named by $CARDHOUR_NVML_SIM_FILE,
// else /opt/cardhour-sim/cards (see simulated_cards.h); they are read at the first
// nvmlInit, again after the last nvmlShutdown, and from a file also at nvmlDeviceGetCount, so
// that a running program sees its cards change. A call that hangs does so outside the lock, as
// others go on meanwhile in the real one. No such text is a host without cards; a
// text that is wrong makes nvmlInit fail with NVML_ERROR_UNKNOWN and one line on stderr.
// State is global because NVML's interface is; a mutex guards it. A handle is a card's
// index plus one, so that a stale one is refused, never followed.
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/gpu/nvml.h"
#include "adapters/gpu/simulated_cards.h"

#define CARDHOUR_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace cardhour;
using namespace cardhour::nvml;

constexpr size_t kSpecBytesMax = 64 * 1024;

struct Driver {
  std::mutex mutex;
  int users = 0;
  SimulatedHost host;
  std::vector<size_t> xids_told;  // by card: how many of its list were delivered
  bool errors_are_watched = false;
  bool was_open = false;
};

Driver& driver() {
  static Driver instance;
  return instance;
}

std::string read_spec() {
  if (const char* text = std::getenv("CARDHOUR_NVML_SIM")) return text;
  const char* path = std::getenv("CARDHOUR_NVML_SIM_FILE");
  std::FILE* file = std::fopen(path != nullptr ? path : "/opt/cardhour-sim/cards", "re");
  if (file == nullptr) return "";
  std::string text(kSpecBytesMax, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

// Runs `body` on the host, under the lock, if the library is initialised.
template <class Body>
Return with_host(Body body) {
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  return d.users == 0 ? kUninitialized : body(d.host);
}

template <class Body>
Return with_known_card(Device device, Body body) {
  return with_host([&](SimulatedHost& host) {
    const auto number = reinterpret_cast<uintptr_t>(device);
    if (number == 0 || number > host.cards.size()) return kInvalidArgument;
    return body(host.cards[number - 1], static_cast<unsigned int>(number - 1));
  });
}

// For what is read from the card itself, which a lost card does not answer.
template <class Body>
Return with_card(Device device, Body body) {
  return with_known_card(device, [&](const SimulatedCard& card, unsigned int) {
    return card.fault == SimulatedFault::none ? body(card) : kGpuIsLost;
  });
}

// A reading by its word, which the text can make [N/A], slow, or hang.
template <class Body>
Return reading(Device device, std::string_view word, Body body) {
  bool hangs = false;
  unsigned int slow_ms = 0;
  const Return code = with_card(device, [&](const SimulatedCard& card) {
    for (const std::string& unknown : card.unknown) {
      if (unknown == word) return kNotSupported;
    }
    hangs = card.hangs == word;
    slow_ms = card.slow_ms;
    return kSuccess;
  });
  if (code != kSuccess) return code;
  while (hangs) ::pause();
  if (slow_ms > 0) ::usleep(slow_ms * 1'000);
  return with_card(device, body);
}

// MIG devices: handles above those of cards, a thousand for each.
constexpr uintptr_t kSliceHandles = 1'000;

template <class Body>
Return with_slice(Device device, Body body) {
  return with_host([&](SimulatedHost& host) {
    const auto number = reinterpret_cast<uintptr_t>(device);
    const uintptr_t card = number / kSliceHandles;
    const uintptr_t slice = number % kSliceHandles;
    if (card == 0 || card > host.cards.size()) return kInvalidArgument;
    if (slice >= host.cards[card - 1].slices.size()) return kInvalidArgument;
    return body(host.cards[card - 1], static_cast<unsigned int>(slice));
  });
}
bool is_slice(Device device) { return reinterpret_cast<uintptr_t>(device) >= kSliceHandles; }

// "2g.20gb" has 20 GiB.
int64_t slice_bytes(std::string_view profile) {
  int64_t gib = 0;
  const size_t dot = profile.find('.');
  if (dot == std::string_view::npos) return 0;
  for (const char c : profile.substr(dot + 1)) {
    if (c < '0' || c > '9') break;
    gib = gib * 10 + (c - '0');
  }
  return gib << 30;
}

Return copy_text(std::string_view text, char* out, unsigned int bytes) {
  if (out == nullptr) return kInvalidArgument;
  if (bytes <= text.size()) return kInsufficientSize;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return kSuccess;
}

template <class T>
Return store(T value, T* out) {
  if (out == nullptr) return kInvalidArgument;
  *out = value;
  return kSuccess;
}

std::string bus_id(const SimulatedCard& card, int domain_digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*X:%02X:%02X.0", domain_digits, card.pci_domain, card.pci_bus,
                card.pci_device);
  return text;
}

template <class Matches>
Return find_device(Device* device, Matches matches) {
  if (device == nullptr) return kInvalidArgument;
  return with_host([&](SimulatedHost& host) {
    for (size_t i = 0; i < host.cards.size(); ++i) {
      if (!matches(host.cards[i], i)) continue;
      if (host.cards[i].fault == SimulatedFault::gone) return kGpuIsLost;
      *device = reinterpret_cast<Device>(i + 1);
      return kSuccess;
    }
    return kNotFound;
  });
}

}  // namespace

// Its presence tells cardhour that these cards are not real.
CARDHOUR_EXPORT int cardhour_simulated() { return 1; }

CARDHOUR_EXPORT Return nvmlInit_v2() {
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  if (d.users == 0) {
    auto host = parse_simulated_cards(read_spec());
    if (!host) {
      std::fprintf(stderr, "%s\n", host.error().what.en.c_str());
      return kUnknown;
    }
    if (host->start == SimulatedStart::mismatch) return kLibRmVersionMismatch;
    if (host->start == SimulatedStart::unloaded) return kDriverNotLoaded;
    while (host->start == SimulatedStart::hangs) ::pause();
    d.host = std::move(*host);
    // What happened before this process looked is history; what it heard it does not hear again.
    d.xids_told.resize(d.host.cards.size(), 0);
    for (size_t i = 0; !d.was_open && i < d.host.cards.size(); ++i) {
      d.xids_told[i] = d.host.cards[i].xids.size();
    }
    d.was_open = true;
    d.errors_are_watched = false;
  }
  ++d.users;
  return kSuccess;
}
CARDHOUR_EXPORT Return nvmlInit() { return nvmlInit_v2(); }
CARDHOUR_EXPORT Return nvmlInitWithFlags(unsigned int) { return nvmlInit_v2(); }

CARDHOUR_EXPORT Return nvmlShutdown() {
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  if (d.users == 0) return kUninitialized;
  --d.users;
  return kSuccess;
}

CARDHOUR_EXPORT const char* nvmlErrorString(Return code) {
  switch (code) {
    case kSuccess:
      return "Success";
    case kUninitialized:
      return "Uninitialized";
    case kInvalidArgument:
      return "Invalid Argument";
    case kNotSupported:
      return "Not Supported";
    case kNotFound:
      return "Not Found";
    case kInsufficientSize:
      return "Insufficient Size";
    case kGpuIsLost:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

CARDHOUR_EXPORT Return nvmlSystemGetDriverVersion(char* text, unsigned int bytes) {
  return with_host([&](SimulatedHost& h) { return copy_text(h.driver_version, text, bytes); });
}
CARDHOUR_EXPORT Return nvmlSystemGetNVMLVersion(char* text, unsigned int bytes) {
  return with_host([&](SimulatedHost&) { return copy_text("12.550.54.14", text, bytes); });
}
CARDHOUR_EXPORT Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return with_host([&](SimulatedHost& h) { return store(h.cuda_version, version); });
}
CARDHOUR_EXPORT Return nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

// A file that changed shows in what the cards do; it can neither add nor remove cards.
static void look_again() {
  if (std::getenv("CARDHOUR_NVML_SIM") != nullptr) return;
  auto host = parse_simulated_cards(read_spec());
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  if (host && d.users > 0 && host->cards.size() == d.host.cards.size()) d.host = std::move(*host);
}

CARDHOUR_EXPORT Return nvmlDeviceGetCount_v2(unsigned int* count) {
  look_again();
  return with_host(
      [&](SimulatedHost& h) { return store(static_cast<unsigned int>(h.cards.size()), count); });
}
CARDHOUR_EXPORT Return nvmlDeviceGetCount(unsigned int* count) {
  return nvmlDeviceGetCount_v2(count);
}

CARDHOUR_EXPORT Return nvmlDeviceGetHandleByIndex_v2(unsigned int index, Device* device) {
  const Return code =
      find_device(device, [&](const SimulatedCard&, size_t i) { return i == index; });
  return code == kNotFound ? kInvalidArgument : code;
}
CARDHOUR_EXPORT Return nvmlDeviceGetHandleByIndex(unsigned int index, Device* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}
CARDHOUR_EXPORT Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  if (uuid == nullptr) return kInvalidArgument;
  return find_device(device, [&](const SimulatedCard& card, size_t) { return card.uuid == uuid; });
}
CARDHOUR_EXPORT Return nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device* device) {
  if (id == nullptr) return kInvalidArgument;
  return find_device(device, [&](const SimulatedCard& card, size_t) {
    return strcasecmp(bus_id(card, 8).c_str(), id) == 0 ||
           strcasecmp(bus_id(card, 4).c_str(), id) == 0;
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetHandleByPciBusId(const char* id, Device* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

// What NVML keeps about a card from its start, and answers for a lost one too.
CARDHOUR_EXPORT Return nvmlDeviceGetUUID(Device device, char* text, unsigned int bytes) {
  if (is_slice(device)) {
    return with_slice(device, [&](const SimulatedCard& card, unsigned int slice) {
      return copy_text("MIG-" + card.uuid.substr(4) + "-" + std::to_string(slice), text, bytes);
    });
  }
  return with_known_card(device, [&](const SimulatedCard& card, unsigned int) {
    return copy_text(card.uuid, text, bytes);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetName(Device device, char* text, unsigned int bytes) {
  return with_known_card(device, [&](const SimulatedCard& card, unsigned int) {
    return copy_text(card.name, text, bytes);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetIndex(Device device, unsigned int* index) {
  return with_known_card(
      device, [&](const SimulatedCard&, unsigned int number) { return store(number, index); });
}
CARDHOUR_EXPORT Return nvmlDeviceGetMinorNumber(Device device, unsigned int* minor) {
  return nvmlDeviceGetIndex(device, minor);
}
CARDHOUR_EXPORT Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* info) {
  if (info == nullptr) return kInvalidArgument;
  return with_known_card(device, [&](const SimulatedCard& card, unsigned int) {
    *info = {};
    info->domain = card.pci_domain;
    info->bus = card.pci_bus;
    info->device = card.pci_device;
    info->pci_device_id = 0x10de;  // NVIDIA's vendor id, in the low half
    copy_text(bus_id(card, 4), info->bus_id_legacy, sizeof info->bus_id_legacy);
    return copy_text(bus_id(card, 8), info->bus_id, sizeof info->bus_id);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory) {
  if (memory == nullptr) return kInvalidArgument;
  if (memory->version != kMemoryV2Version) return kArgumentVersionMismatch;
  return reading(device, "memory", [&](const SimulatedCard& card) {
    memory->total = static_cast<unsigned long long>(card.memory_total_bytes);
    memory->reserved = static_cast<unsigned long long>(card.memory_reserved_bytes);
    memory->used = static_cast<unsigned long long>(card.memory_used_bytes);
    memory->free = memory->total - memory->reserved - memory->used;
    return kSuccess;
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  if (is_slice(device)) {
    return with_slice(device, [&](const SimulatedCard& card, unsigned int slice) {
      const auto total = static_cast<unsigned long long>(slice_bytes(card.slices[slice]));
      unsigned long long used = 0;
      for (const SimulatedProcess& process : card.processes) {
        const bool here = process.slice == static_cast<int>(slice) && process.memory_bytes > 0;
        if (here) used += static_cast<unsigned long long>(process.memory_bytes);
      }
      return store(Memory{total, total - std::min(used, total), used}, memory);
    });
  }
  MemoryV2 v2{};
  v2.version = kMemoryV2Version;
  const Return code = nvmlDeviceGetMemoryInfo_v2(device, &v2);
  if (code != kSuccess) return code;
  return store(Memory{v2.total, v2.free, v2.used + v2.reserved}, memory);
}
CARDHOUR_EXPORT Return nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return kInvalidArgument;
  return with_card(device, [&](const SimulatedCard& card) {
    *major = card.compute_major;
    *minor = card.compute_minor;
    return kSuccess;
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization) {
  return reading(device, "util", [&](const SimulatedCard& card) {
    if (!card.slices.empty()) return kNotSupported;  // as on a card that is divided
    return store(Utilization{card.gpu_percent, card.memory_percent}, utilization);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetTemperature(Device device, int sensor, unsigned int* celsius) {
  if (sensor != kSensorGpu) return kInvalidArgument;
  return reading(device, "temp", [&](const SimulatedCard& card) {
    return store(card.temperature_celsius, celsius);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetPowerUsage(Device device, unsigned int* milliwatts) {
  return reading(device, "power", [&](const SimulatedCard& card) {
    return store(card.power_milliwatts, milliwatts);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned int* milliwatts) {
  return reading(device, "limit", [&](const SimulatedCard& card) {
    return store(card.power_limit_milliwatts, milliwatts);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetClockInfo(Device device, int type, unsigned int* mhz) {
  return reading(device, "clock", [&](const SimulatedCard& card) {
    return store(type == kClockMemory ? card.memory_clock_mhz : card.clock_mhz, mhz);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetMaxClockInfo(Device device, int type, unsigned int* mhz) {
  return reading(device, "clock", [&](const SimulatedCard& card) {
    return store(type == kClockMemory ? card.memory_clock_mhz : card.clock_max_mhz, mhz);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetCurrentClocksThrottleReasons(Device device,
                                                                 unsigned long long* bits) {
  return reading(device, "throttle",
                 [&](const SimulatedCard& card) { return store(card.throttle_reasons, bits); });
}

CARDHOUR_EXPORT Return nvmlDeviceGetPcieThroughput(Device device, int counter,
                                                   unsigned int* kb_per_second) {
  return reading(device, "pcie", [&](const SimulatedCard& card) {
    return store(counter == kPcieSent ? card.pcie_sent_kb : card.pcie_received_kb, kb_per_second);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetCurrPcieLinkGeneration(Device device, unsigned int* value) {
  return reading(device, "link",
                 [&](const SimulatedCard& card) { return store(card.pcie_generation, value); });
}
CARDHOUR_EXPORT Return nvmlDeviceGetMaxPcieLinkGeneration(Device device, unsigned int* value) {
  return reading(device, "link",
                 [&](const SimulatedCard& card) { return store(card.pcie_generation_max, value); });
}
CARDHOUR_EXPORT Return nvmlDeviceGetCurrPcieLinkWidth(Device device, unsigned int* value) {
  return reading(device, "link",
                 [&](const SimulatedCard& card) { return store(card.pcie_width, value); });
}
CARDHOUR_EXPORT Return nvmlDeviceGetMaxPcieLinkWidth(Device device, unsigned int* value) {
  return reading(device, "link",
                 [&](const SimulatedCard& card) { return store(card.pcie_width_max, value); });
}
CARDHOUR_EXPORT Return nvmlDeviceGetPcieReplayCounter(Device device, unsigned int* value) {
  return reading(device, "pcie",
                 [&](const SimulatedCard& card) { return store(card.pcie_replays, value); });
}

CARDHOUR_EXPORT Return nvmlDeviceGetNvLinkState(Device device, unsigned int link, int* active) {
  return reading(device, "nvlink", [&](const SimulatedCard& card) {
    if (card.nvlinks == 0) return kNotSupported;
    return link < card.nvlinks ? store(1, active) : kInvalidArgument;
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetFieldValues(Device device, int count, FieldValue* values) {
  if (values == nullptr || count < 0) return kInvalidArgument;
  return reading(device, "nvlink", [&](const SimulatedCard& card) {
    for (int i = 0; i < count; ++i) {
      FieldValue& value = values[i];
      const bool sent = value.field == kFieldNvLinkSentKib;
      const bool known = sent || value.field == kFieldNvLinkReceivedKib;
      value.code = known && card.nvlinks > 0 ? kSuccess : kNotSupported;
      value.value.as_unsigned_long_long = sent ? card.nvlink_sent_kib : card.nvlink_received_kib;
    }
    return kSuccess;
  });
}

CARDHOUR_EXPORT Return nvmlDeviceGetTotalEccErrors(Device device, int errors, int,
                                                   unsigned long long* count) {
  return reading(device, "ecc", [&](const SimulatedCard& card) {
    if (!card.has_ecc) return kNotSupported;
    return store(errors == kEccCorrected ? card.ecc_corrected : card.ecc_uncorrected, count);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetRemappedRows(Device device, unsigned int* corrected,
                                                 unsigned int* uncorrected, unsigned int* pending,
                                                 unsigned int* failed) {
  return reading(device, "remap", [&](const SimulatedCard& card) {
    if (!card.has_ecc) return kNotSupported;
    const unsigned int rows = card.remap_is_pending || card.remap_has_failed ? 1 : 0;
    const bool fine = store(0U, corrected) == kSuccess && store(rows, uncorrected) == kSuccess &&
                      store(card.remap_is_pending ? 1U : 0U, pending) == kSuccess &&
                      store(card.remap_has_failed ? 1U : 0U, failed) == kSuccess;
    return fine ? kSuccess : kInvalidArgument;
  });
}

// `count` comes in as the room in `processes`.
static Return list_processes(Device device, bool graphics, unsigned int* count,
                             ProcessInfo* processes) {
  if (count == nullptr) return kInvalidArgument;
  return reading(device, "procs", [&](const SimulatedCard& card) {
    const unsigned int room = *count;
    unsigned int found = 0;
    for (const SimulatedProcess& process : card.processes) {
      if (process.is_graphics != graphics) continue;
      if (found < room && processes != nullptr) {
        ProcessInfo& to = processes[found];
        to.pid = process.pid;
        to.used_memory = process.memory_bytes < 0
                             ? kNotAvailable
                             : static_cast<unsigned long long>(process.memory_bytes);
        to.gpu_instance =
            process.slice < 0 ? kNoInstance : static_cast<unsigned int>(process.slice);
        to.compute_instance = process.slice < 0 ? kNoInstance : 0;
      }
      ++found;
    }
    *count = found;
    return found <= room ? kSuccess : kInsufficientSize;
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned int* count,
                                                               ProcessInfo* processes) {
  return list_processes(device, false, count, processes);
}
CARDHOUR_EXPORT Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned int* count,
                                                                ProcessInfo* processes) {
  return list_processes(device, true, count, processes);
}

CARDHOUR_EXPORT Return nvmlDeviceGetMigMode(Device device, unsigned int* current,
                                            unsigned int* pending) {
  return reading(device, "mig", [&](const SimulatedCard& card) {
    if (!card.can_be_divided) return kNotSupported;
    const unsigned int mode = card.slices.empty() ? 0 : kMigEnabled;
    return store(mode, current) == kSuccess ? store(mode, pending) : kInvalidArgument;
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned int* count) {
  return with_card(device, [&](const SimulatedCard& card) {
    return store(card.can_be_divided ? 7U : 0U, count);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned int index,
                                                           Device* slice) {
  return with_known_card(device, [&](const SimulatedCard& card, unsigned int number) {
    if (index >= card.slices.size()) return kNotFound;
    return store(reinterpret_cast<Device>((number + 1) * kSliceHandles + index), slice);
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetGpuInstanceId(Device device, unsigned int* id) {
  return with_slice(device,
                    [&](const SimulatedCard&, unsigned int slice) { return store(slice, id); });
}
CARDHOUR_EXPORT Return nvmlDeviceGetComputeInstanceId(Device device, unsigned int* id) {
  return with_slice(device, [&](const SimulatedCard&, unsigned int) { return store(0U, id); });
}

// One set of events is enough for whoever watches here.
CARDHOUR_EXPORT Return nvmlEventSetCreate(EventSet* set) {
  return with_host([&](SimulatedHost&) {
    driver().errors_are_watched = true;
    return store(reinterpret_cast<EventSet>(uintptr_t{1}), set);
  });
}
CARDHOUR_EXPORT Return nvmlEventSetFree(EventSet) {
  return with_host([&](SimulatedHost&) {
    driver().errors_are_watched = false;
    return kSuccess;
  });
}
CARDHOUR_EXPORT Return nvmlDeviceRegisterEvents(Device device, unsigned long long types, EventSet) {
  return with_known_card(device, [&](const SimulatedCard&, unsigned int) {
    return (types & ~kEventXid) == 0 ? kSuccess : kNotSupported;
  });
}
CARDHOUR_EXPORT Return nvmlEventSetWait_v2(EventSet, EventData* event, unsigned int) {
  if (event == nullptr) return kInvalidArgument;
  return with_host([&](SimulatedHost& host) {
    Driver& d = driver();
    d.xids_told.resize(host.cards.size(), 0);
    for (size_t i = 0; d.errors_are_watched && i < host.cards.size(); ++i) {
      const auto& xids = host.cards[i].xids;
      size_t& told = d.xids_told[i];
      if (told > xids.size()) told = xids.size();  // the text was shortened
      if (told == xids.size()) continue;
      *event = {reinterpret_cast<Device>(i + 1), kEventXid, xids[told], kNoInstance, kNoInstance};
      ++told;
      return kSuccess;
    }
    return kTimeout;
  });
}
