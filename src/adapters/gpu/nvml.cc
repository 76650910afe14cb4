#include "adapters/gpu/nvml.h"

#include <dlfcn.h>

#include <utility>

#ifdef CARDHOUR_PORTABLE_START
// The names that every glibc has: see portable.cc.
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dlclose, dlclose@GLIBC_2.2.5");
#endif

namespace cardhour::nvml {
namespace {

template <class F>
bool load(void* handle, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

std::string return_name(Return code) {
  switch (code) {
    case kSuccess:
      return "SUCCESS";
    case kUninitialized:
      return "UNINITIALIZED";
    case kInvalidArgument:
      return "INVALID_ARGUMENT";
    case kNotSupported:
      return "NOT_SUPPORTED";
    case kNoPermission:
      return "NO_PERMISSION";
    case kNotFound:
      return "NOT_FOUND";
    case kInsufficientSize:
      return "INSUFFICIENT_SIZE";
    case kInsufficientPower:
      return "INSUFFICIENT_POWER";
    case kDriverNotLoaded:
      return "DRIVER_NOT_LOADED";
    case kTimeout:
      return "TIMEOUT";
    case kIrqIssue:
      return "IRQ_ISSUE";
    case kLibraryNotFound:
      return "LIBRARY_NOT_FOUND";
    case kFunctionNotFound:
      return "FUNCTION_NOT_FOUND";
    case kCorruptedInforom:
      return "CORRUPTED_INFOROM";
    case kGpuIsLost:
      return "GPU_IS_LOST";
    case kResetRequired:
      return "RESET_REQUIRED";
    case kOperatingSystem:
      return "OPERATING_SYSTEM";
    case kLibRmVersionMismatch:
      return "LIB_RM_VERSION_MISMATCH";
    case kInUse:
      return "IN_USE";
    case kMemory:
      return "MEMORY";
    case kNoData:
      return "NO_DATA";
    case kArgumentVersionMismatch:
      return "ARGUMENT_VERSION_MISMATCH";
    case kUnknown:
      return "UNKNOWN";
  }
  return "NVML_" + std::to_string(static_cast<int>(code));
}

tl::unexpected<Error> driver_refuses(Return code) {
  const std::string name = return_name(code);
  Text next{"look at dmesg for NVRM and Xid lines", "请查看 dmesg 中的 NVRM 与 Xid 记录"};
  if (code == kLibRmVersionMismatch) {
    next = {"the driver was upgraded while loaded: reboot this host, or reload its modules",
            "驱动在加载期间被升级：请重启该主机，或重新加载驱动模块"};
  }
  return fail(ErrorCode::engine_failed,
              Text{"the NVIDIA driver refuses: " + name, "NVIDIA 驱动拒绝访问：" + name},
              std::move(next));
}

Result<Library> Library::open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return fail(ErrorCode::not_found, Text{"no NVML library: " + path, "没有 NVML 库：" + path});
  }
  Library library(handle);
  if (!library.load_functions()) {
    return fail(ErrorCode::engine_failed,
                Text{path + " lacks functions of NVML", path + " 缺少 NVML 的函数"},
                Text{"reinstall the NVIDIA driver", "请重新安装 NVIDIA 驱动"});
  }
  return library;
}

Library::Library(Library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      functions_(other.functions_),
      is_simulated_(other.is_simulated_) {}

Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
}

void Library::load_readings() {
  Functions& f = functions_;
  load(handle_, "nvmlDeviceGetUtilizationRates", f.utilization);
  load(handle_, "nvmlDeviceGetPowerUsage", f.power_usage);
  load(handle_, "nvmlDeviceGetEnforcedPowerLimit", f.power_limit);
  load(handle_, "nvmlDeviceGetTemperature", f.temperature);
  load(handle_, "nvmlDeviceGetClockInfo", f.clock);
  load(handle_, "nvmlDeviceGetMaxClockInfo", f.clock_max);
  // Renamed to ...EventReasons; drivers keep the old name beside the new one.
  if (!load(handle_, "nvmlDeviceGetCurrentClocksThrottleReasons", f.throttle_reasons)) {
    load(handle_, "nvmlDeviceGetCurrentClocksEventReasons", f.throttle_reasons);
  }
  load(handle_, "nvmlDeviceGetPcieThroughput", f.pcie_throughput);
  load(handle_, "nvmlDeviceGetCurrPcieLinkGeneration", f.pcie_generation);
  load(handle_, "nvmlDeviceGetMaxPcieLinkGeneration", f.pcie_generation_max);
  load(handle_, "nvmlDeviceGetCurrPcieLinkWidth", f.pcie_width);
  load(handle_, "nvmlDeviceGetMaxPcieLinkWidth", f.pcie_width_max);
  load(handle_, "nvmlDeviceGetPcieReplayCounter", f.pcie_replays);
  load(handle_, "nvmlDeviceGetNvLinkState", f.nvlink_state);
  load(handle_, "nvmlDeviceGetFieldValues", f.field_values);
  load(handle_, "nvmlDeviceGetTotalEccErrors", f.ecc_errors);
  load(handle_, "nvmlDeviceGetRemappedRows", f.remapped_rows);
  // _v3 came with driver 510 and has the structure of _v2 (450).
  if (!load(handle_, "nvmlDeviceGetComputeRunningProcesses_v3", f.compute_processes)) {
    load(handle_, "nvmlDeviceGetComputeRunningProcesses_v2", f.compute_processes);
  }
  if (!load(handle_, "nvmlDeviceGetGraphicsRunningProcesses_v3", f.graphics_processes)) {
    load(handle_, "nvmlDeviceGetGraphicsRunningProcesses_v2", f.graphics_processes);
  }
  load(handle_, "nvmlDeviceGetMigMode", f.mig_mode);
  load(handle_, "nvmlDeviceGetMaxMigDeviceCount", f.mig_count_max);
  load(handle_, "nvmlDeviceGetMigDeviceHandleByIndex", f.mig_by_index);
  load(handle_, "nvmlDeviceGetGpuInstanceId", f.gpu_instance);
  load(handle_, "nvmlDeviceGetComputeInstanceId", f.compute_instance);
  load(handle_, "nvmlEventSetCreate", f.event_set_create);
  load(handle_, "nvmlEventSetFree", f.event_set_free);
  load(handle_, "nvmlDeviceRegisterEvents", f.register_events);
  load(handle_, "nvmlEventSetWait_v2", f.event_set_wait);
}

bool Library::load_functions() {
  Functions& f = functions_;
  load(handle_, "nvmlSystemGetDriverVersion", f.driver_version);
  load(handle_, "nvmlSystemGetCudaDriverVersion_v2", f.cuda_version);
  load(handle_, "nvmlDeviceGetMemoryInfo", f.device_memory);
  load(handle_, "nvmlDeviceGetMemoryInfo_v2", f.device_memory_v2);
  load(handle_, "nvmlDeviceGetCudaComputeCapability", f.device_compute_capability);
  load_readings();
  is_simulated_ = dlsym(handle_, "cardhour_simulated") != nullptr;
  return load(handle_, "nvmlInit_v2", f.init) && load(handle_, "nvmlShutdown", f.shutdown) &&
         load(handle_, "nvmlDeviceGetCount_v2", f.device_count) &&
         load(handle_, "nvmlDeviceGetHandleByIndex_v2", f.device_by_index) &&
         load(handle_, "nvmlDeviceGetUUID", f.device_uuid) &&
         load(handle_, "nvmlDeviceGetName", f.device_name) &&
         load(handle_, "nvmlDeviceGetPciInfo_v3", f.device_pci_info);
}

}  // namespace cardhour::nvml
