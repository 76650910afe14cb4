// NVML, NVIDIA's management library: our own minimal declarations of its C interface and
// a loader. Nothing of NVIDIA's is needed to build; the driver's library is opened at run
// time. Layouts and numbers are NVML's and never change within one symbol version
// (docs.nvidia.com/deploy/nvml-api). No fmt and no Boost library is linked: this file also
// goes into cardhour-cards, which runs inside instances.
// Thread-safe: NVML is, and a Library is immutable once open.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace cardhour::nvml {

enum Return : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kLibRmVersionMismatch = 18,
  kInUse = 19,
  kMemory = 20,
  kNoData = 21,
  kArgumentVersionMismatch = 25,
  kUnknown = 999,
};

// "GPU_IS_LOST" for kGpuIsLost; "NVML_57" for a code that has no name here.
std::string return_name(Return code);

struct DeviceOpaque;
using Device = DeviceOpaque*;

struct PciInfo {  // nvmlPciInfo_t, version 3
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct Memory {  // nvmlMemory_t; `used` counts what the driver itself reserves
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
static_assert(sizeof(Memory) == 24);

struct MemoryV2 {  // nvmlMemory_v2_t; `used` is what programs allocated
  unsigned int version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
static_assert(sizeof(MemoryV2) == 40);
inline constexpr unsigned int kMemoryV2Version = sizeof(MemoryV2) | (2u << 24);

struct Utilization {  // nvmlUtilization_t, percent
  unsigned int gpu;
  unsigned int memory;
};
static_assert(sizeof(Utilization) == 8);

// NVML's buffer sizes: 80 for versions, 96 for UUIDs and names.
inline constexpr unsigned int kTextBytes = 96;

// The functions we call. Those marked optional are null when the driver is too old.
struct Functions {
  Return (*init)();
  Return (*shutdown)();
  Return (*device_count)(unsigned int* count);
  Return (*device_by_index)(unsigned int index, Device* device);
  Return (*device_uuid)(Device device, char* text, unsigned int bytes);
  Return (*device_name)(Device device, char* text, unsigned int bytes);
  Return (*device_pci_info)(Device device, PciInfo* info);
  Return (*driver_version)(char* text, unsigned int bytes);                    // optional
  Return (*cuda_version)(int* version);                                        // optional
  Return (*device_memory)(Device device, Memory* memory);                      // optional
  Return (*device_memory_v2)(Device device, MemoryV2* memory);                 // optional
  Return (*device_compute_capability)(Device device, int* major, int* minor);  // optional
};

// An open NVML library. Closed when destroyed; no Device or Functions may outlive it.
class Library {
 public:
  // not_found: no such library. engine_failed: a library, but not NVML.
  static Result<Library> open(const std::string& path);

  Library(Library&& other) noexcept;
  Library& operator=(Library&&) = delete;
  ~Library();

  const Functions& call() const { return functions_; }
  bool is_simulated() const { return is_simulated_; }

 private:
  explicit Library(void* handle) : handle_(handle) {}
  bool load_functions();

  void* handle_;
  Functions functions_{};
  bool is_simulated_ = false;
};

}  // namespace cardhour::nvml
