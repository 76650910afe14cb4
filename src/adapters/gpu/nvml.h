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
// What a refusal of the driver as a whole means, and what to do.
tl::unexpected<Error> driver_refuses(Return code);

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

struct ProcessInfo {  // nvmlProcessInfo_t of the _v3 functions (and _v2)
  unsigned int pid;
  unsigned long long used_memory;  // kNotAvailable: [N/A]
  unsigned int gpu_instance;       // kNoInstance without MIG
  unsigned int compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24);
inline constexpr unsigned long long kNotAvailable = ~0ULL;
inline constexpr unsigned int kNoInstance = ~0U;

struct EventSetOpaque;
using EventSet = EventSetOpaque*;
struct EventData {  // nvmlEventData_t of nvmlEventSetWait_v2
  Device device;
  unsigned long long type;
  unsigned long long data;  // of an Xid error: its code
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
static_assert(sizeof(EventData) == 32);
inline constexpr unsigned long long kEventXid = 0x8;

struct FieldValue {  // nvmlFieldValue_t
  unsigned int field;
  unsigned int scope;
  long long timestamp_us;
  long long latency_us;
  unsigned int value_type;
  Return code;
  union {
    double as_double;
    unsigned int as_unsigned;
    unsigned long long as_unsigned_long_long;
  } value;
};
static_assert(sizeof(FieldValue) == 40);
inline constexpr unsigned int kFieldNvLinkSentKib = 138;  // NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX
inline constexpr unsigned int kFieldNvLinkReceivedKib = 139;
inline constexpr unsigned int kAllLinks = ~0U;  // as scope: the sum of the links

enum ClockType : int { kClockSm = 1, kClockMemory = 2 };
enum PcieCounter : int { kPcieSent = 0, kPcieReceived = 1 };  // in KB/s, over 20 ms
enum EccErrors : int { kEccCorrected = 0, kEccUncorrected = 1 };
inline constexpr int kEccVolatile = 0;  // since the driver was loaded
inline constexpr int kSensorGpu = 0;
inline constexpr unsigned int kMigEnabled = 1;
inline constexpr unsigned int kNvLinksMax = 18;

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

  // Of readings: all optional.
  Return (*utilization)(Device device, Utilization* utilization);
  Return (*power_usage)(Device device, unsigned int* milliwatts);
  Return (*power_limit)(Device device, unsigned int* milliwatts);
  Return (*temperature)(Device device, int sensor, unsigned int* celsius);
  Return (*clock)(Device device, ClockType type, unsigned int* mhz);
  Return (*clock_max)(Device device, ClockType type, unsigned int* mhz);
  Return (*throttle_reasons)(Device device, unsigned long long* bits);
  Return (*pcie_throughput)(Device device, PcieCounter counter, unsigned int* kb_per_second);
  Return (*pcie_generation)(Device device, unsigned int* generation);
  Return (*pcie_generation_max)(Device device, unsigned int* generation);
  Return (*pcie_width)(Device device, unsigned int* lanes);
  Return (*pcie_width_max)(Device device, unsigned int* lanes);
  Return (*pcie_replays)(Device device, unsigned int* count);
  Return (*nvlink_state)(Device device, unsigned int link, int* active);
  Return (*field_values)(Device device, int count, FieldValue* values);
  Return (*ecc_errors)(Device device, EccErrors errors, int counter, unsigned long long* count);
  Return (*remapped_rows)(Device device, unsigned int* corrected, unsigned int* uncorrected,
                          unsigned int* pending, unsigned int* failed);
  Return (*compute_processes)(Device device, unsigned int* count, ProcessInfo* processes);
  Return (*graphics_processes)(Device device, unsigned int* count, ProcessInfo* processes);
  Return (*mig_mode)(Device device, unsigned int* current, unsigned int* pending);
  Return (*mig_count_max)(Device device, unsigned int* count);
  Return (*mig_by_index)(Device device, unsigned int index, Device* slice);
  Return (*gpu_instance)(Device slice, unsigned int* id);
  Return (*compute_instance)(Device slice, unsigned int* id);
  Return (*event_set_create)(EventSet* set);
  Return (*event_set_free)(EventSet set);
  Return (*register_events)(Device device, unsigned long long types, EventSet set);
  Return (*event_set_wait)(EventSet set, EventData* event, unsigned int timeout_ms);
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
  void load_readings();

  void* handle_;
  Functions functions_{};
  bool is_simulated_ = false;
};

}  // namespace cardhour::nvml
