// libcardhour-nvml-sim.so: NVML's C interface over cards that do not exist, so that the
// whole product, and tools built on NVML, run on machines without a GPU. Installed under
// the name libnvidia-ml.so.1 where such tools look for it.
// The cards come from $CARDHOUR_NVML_SIM, else the file named by $CARDHOUR_NVML_SIM_FILE,
// else /opt/cardhour-sim/cards (see simulated_cards.h); they are read at the first
// nvmlInit and again after the last nvmlShutdown. No such text is a host without cards; a
// text that is wrong makes nvmlInit fail with NVML_ERROR_UNKNOWN and one line on stderr.
// State is global because NVML's interface is; a mutex guards it. A handle is a card's
// index plus one, so that a stale one is refused, never followed.
#include <strings.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

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
    d.host = std::move(*host);
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

CARDHOUR_EXPORT Return nvmlDeviceGetCount_v2(unsigned int* count) {
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
  return with_card(device, [&](const SimulatedCard& card) {
    memory->total = static_cast<unsigned long long>(card.memory_total_bytes);
    memory->reserved = static_cast<unsigned long long>(card.memory_reserved_bytes);
    memory->used = static_cast<unsigned long long>(card.memory_used_bytes);
    memory->free = memory->total - memory->reserved - memory->used;
    return kSuccess;
  });
}
CARDHOUR_EXPORT Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
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
  return with_card(device, [&](const SimulatedCard&) {
    return store(Utilization{0, 0}, utilization);
  });
}

// Nothing ever runs on a simulated card. `count` comes in as the room in `processes`.
CARDHOUR_EXPORT Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned int* count,
                                                               void*) {
  return with_card(device, [&](const SimulatedCard&) { return store(0u, count); });
}
CARDHOUR_EXPORT Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned int* count,
                                                                void*) {
  return with_card(device, [&](const SimulatedCard&) { return store(0u, count); });
}

// What a simulated card has no honest value for.
CARDHOUR_EXPORT Return nvmlDeviceGetTemperature(Device device, int, unsigned int*) {
  return with_card(device, [](const SimulatedCard&) { return kNotSupported; });
}
CARDHOUR_EXPORT Return nvmlDeviceGetPowerUsage(Device device, unsigned int*) {
  return with_card(device, [](const SimulatedCard&) { return kNotSupported; });
}
CARDHOUR_EXPORT Return nvmlDeviceGetMigMode(Device device, unsigned int*, unsigned int*) {
  return with_card(device, [](const SimulatedCard&) { return kNotSupported; });
}
