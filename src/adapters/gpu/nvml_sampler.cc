#include "adapters/gpu/nvml_sampler.h"

#include <algorithm>
#include <utility>

namespace cardhour {
namespace {

using nvml::Functions;

constexpr std::chrono::minutes kOpenAtMost{10};
constexpr unsigned int kProcessesMax = 1024;  // a card has a few; a runaway fork bomb more
constexpr int kErrorsPerLook = 256;
constexpr int64_t kKilobyte = 1000;  // NVML's PCIe throughput is in KB/s

// One card's readings. Remembers the first failure that makes the card unfit.
class Reader {
 public:
  Reader(const Functions& call, nvml::Device device) : call_(call), device_(device) {}

  CardSample read() {
    char uuid[nvml::kTextBytes] = {};
    if (check(call_.device_uuid(device_, uuid, sizeof uuid - 1))) sample_.uuid = uuid;
    read_load();
    read_clocks();
    read_pcie();
    read_nvlink();
    read_errors();
    read_slices();
    read_processes(call_.compute_processes, false);
    read_processes(call_.graphics_processes, true);
    return std::move(sample_);
  }

 private:
  bool check(nvml::Return code) {
    if (code == nvml::kSuccess) return true;
    const bool lost = code == nvml::kGpuIsLost || code == nvml::kResetRequired ||
                      code == nvml::kUnknown || code == nvml::kIrqIssue;
    if (lost && sample_.fault.empty()) sample_.fault = nvml::return_name(code);
    return false;
  }

  // A number by a function of the driver that may be missing.
  template <class Number>
  void number(std::optional<int64_t>& to, nvml::Return (*function)(nvml::Device, Number*)) {
    Number value{};
    if (function == nullptr || !check(function(device_, &value))) return;
    to = static_cast<int64_t>(value);
  }
  template <class Kind>
  void number(std::optional<int64_t>& to,
              nvml::Return (*function)(nvml::Device, Kind, unsigned int*), Kind kind) {
    unsigned int value = 0;
    if (function == nullptr || !check(function(device_, kind, &value))) return;
    to = value;
  }
  void ecc(std::optional<int64_t>& to, nvml::EccErrors errors) {
    unsigned long long count = 0;
    if (call_.ecc_errors == nullptr ||
        !check(call_.ecc_errors(device_, errors, nvml::kEccVolatile, &count))) {
      return;
    }
    to = static_cast<int64_t>(count);
  }

  void read_load() {
    CardReading& r = sample_.reading;
    nvml::Utilization load{};
    if (call_.utilization != nullptr && check(call_.utilization(device_, &load))) {
      r.gpu_percent = load.gpu;
      r.memory_percent = load.memory;
    }
    nvml::MemoryV2 memory{};
    memory.version = nvml::kMemoryV2Version;
    nvml::Memory old_memory{};
    if (call_.device_memory_v2 != nullptr && check(call_.device_memory_v2(device_, &memory))) {
      r.memory_total_bytes = static_cast<int64_t>(memory.total);
      r.memory_used_bytes = static_cast<int64_t>(memory.used);
    } else if (call_.device_memory != nullptr && check(call_.device_memory(device_, &old_memory))) {
      r.memory_total_bytes = static_cast<int64_t>(old_memory.total);
      r.memory_used_bytes = static_cast<int64_t>(old_memory.used);
    }
  }

  void read_clocks() {
    CardReading& r = sample_.reading;
    number(r.power_milliwatts, call_.power_usage);
    number(r.power_limit_milliwatts, call_.power_limit);
    number(r.temperature_celsius, call_.temperature, nvml::kSensorGpu);
    number(r.sm_clock_mhz, call_.clock, nvml::kClockSm);
    number(r.sm_clock_max_mhz, call_.clock_max, nvml::kClockSm);
    number(r.memory_clock_mhz, call_.clock, nvml::kClockMemory);
    number(r.throttle_reasons, call_.throttle_reasons);
  }

  void read_pcie() {
    CardReading& r = sample_.reading;
    number(r.pcie_sent_bytes_per_second, call_.pcie_throughput, nvml::kPcieSent);
    number(r.pcie_received_bytes_per_second, call_.pcie_throughput, nvml::kPcieReceived);
    if (r.pcie_sent_bytes_per_second) *r.pcie_sent_bytes_per_second *= kKilobyte;
    if (r.pcie_received_bytes_per_second) *r.pcie_received_bytes_per_second *= kKilobyte;
    number(r.pcie_generation, call_.pcie_generation);
    number(r.pcie_generation_max, call_.pcie_generation_max);
    number(r.pcie_width, call_.pcie_width);
    number(r.pcie_width_max, call_.pcie_width_max);
    number(r.pcie_replays, call_.pcie_replays);
  }

  void read_nvlink() {
    if (call_.nvlink_state == nullptr) return;
    CardReading& r = sample_.reading;
    for (unsigned int link = 0; link < nvml::kNvLinksMax; ++link) {
      int active = 0;
      // Past the last link: not supported, or an invalid argument.
      if (!check(call_.nvlink_state(device_, link, &active))) break;
      r.nvlinks_active = r.nvlinks_active.value_or(0) + (active != 0 ? 1 : 0);
    }
    if (r.nvlinks_active.value_or(0) == 0 || call_.field_values == nullptr) return;
    nvml::FieldValue values[2] = {};
    values[0].field = nvml::kFieldNvLinkSentKib;
    values[1].field = nvml::kFieldNvLinkReceivedKib;
    for (nvml::FieldValue& value : values) value.scope = nvml::kAllLinks;
    if (!check(call_.field_values(device_, 2, values))) return;
    const auto kib = [](const nvml::FieldValue& value) -> std::optional<int64_t> {
      if (value.code != nvml::kSuccess) return std::nullopt;
      return static_cast<int64_t>(value.value.as_unsigned_long_long);
    };
    r.nvlink_sent_kib = kib(values[0]);
    r.nvlink_received_kib = kib(values[1]);
  }

  void read_errors() {
    CardReading& r = sample_.reading;
    ecc(r.ecc_corrected, nvml::kEccCorrected);
    ecc(r.ecc_uncorrected, nvml::kEccUncorrected);
    if (call_.remapped_rows == nullptr) return;
    unsigned int corrected = 0;
    unsigned int uncorrected = 0;
    unsigned int pending = 0;
    unsigned int failed = 0;
    if (!check(call_.remapped_rows(device_, &corrected, &uncorrected, &pending, &failed))) return;
    r.row_remap_is_pending = pending;
    r.row_remap_has_failed = failed;
  }

  void read_slices() {
    unsigned int mode = 0;
    unsigned int pending = 0;
    if (call_.mig_mode == nullptr || !check(call_.mig_mode(device_, &mode, &pending))) return;
    sample_.is_divided = mode == nvml::kMigEnabled;
    unsigned int count = 0;
    if (!sample_.is_divided || call_.mig_count_max == nullptr || call_.mig_by_index == nullptr ||
        !check(call_.mig_count_max(device_, &count))) {
      return;
    }
    for (unsigned int index = 0; index < count; ++index) {
      nvml::Device slice = nullptr;
      if (check(call_.mig_by_index(device_, index, &slice))) add_slice(slice);
    }
  }

  void add_slice(nvml::Device device) {
    CardSlice slice;
    char uuid[nvml::kTextBytes] = {};
    if (check(call_.device_uuid(device, uuid, sizeof uuid - 1))) slice.uuid = uuid;
    unsigned int id = 0;
    if (call_.gpu_instance != nullptr && check(call_.gpu_instance(device, &id))) {
      slice.gpu_slice = id;
    }
    if (call_.compute_instance != nullptr && check(call_.compute_instance(device, &id))) {
      slice.compute_slice = id;
    }
    nvml::Memory memory{};
    if (call_.device_memory != nullptr && check(call_.device_memory(device, &memory))) {
      slice.memory_total_bytes = static_cast<int64_t>(memory.total);
      slice.memory_used_bytes = static_cast<int64_t>(memory.used);
    }
    sample_.slices.push_back(std::move(slice));
  }

  void read_processes(nvml::Return (*function)(nvml::Device, unsigned int*, nvml::ProcessInfo*),
                      bool graphics) {
    if (function == nullptr) return;
    std::vector<nvml::ProcessInfo> found(16);
    nvml::Return code = nvml::kInsufficientSize;
    unsigned int count = 0;
    while (code == nvml::kInsufficientSize && found.size() <= kProcessesMax) {
      count = static_cast<unsigned int>(found.size());
      code = function(device_, &count, found.data());
      // Some may have begun meanwhile: room for more than it says.
      if (code == nvml::kInsufficientSize) found.resize(std::max<size_t>(count, found.size()) * 2);
    }
    if (!check(code)) return;
    for (unsigned int i = 0; i < count; ++i) {
      const nvml::ProcessInfo& info = found[i];
      GpuProcess process;
      process.pid = info.pid;
      process.is_graphics = graphics;
      if (info.used_memory != nvml::kNotAvailable) {
        process.memory_used_bytes = static_cast<int64_t>(info.used_memory);
      }
      if (info.gpu_instance != nvml::kNoInstance) process.gpu_slice = info.gpu_instance;
      if (info.compute_instance != nvml::kNoInstance) process.compute_slice = info.compute_instance;
      sample_.processes.push_back(std::move(process));
    }
  }

  const Functions& call_;
  nvml::Device device_;
  CardSample sample_;
};

}  // namespace

Result<bool> NvmlSampler::open() {
  if (library_ && std::chrono::steady_clock::now() - opened_at_ < kOpenAtMost) return true;
  close();
  auto library = nvml::Library::open(library_path_);
  if (!library && library.error().code == ErrorCode::not_found) return false;
  if (!library) return fail(std::move(library.error()));
  const auto code = library->call().init();
  if (code == nvml::kDriverNotLoaded || code == nvml::kLibraryNotFound) return false;
  if (code != nvml::kSuccess) return nvml::driver_refuses(code);
  library_.emplace(std::move(*library));
  opened_at_ = std::chrono::steady_clock::now();
  watch_for_errors();
  return true;
}

void NvmlSampler::close() {
  if (!library_) return;
  const Functions& call = library_->call();
  if (events_ != nullptr) call.event_set_free(events_);
  events_ = nullptr;
  known_.clear();
  call.shutdown();
  library_.reset();
}

void NvmlSampler::watch_for_errors() {
  const Functions& call = library_->call();
  if (call.event_set_create == nullptr || call.event_set_free == nullptr ||
      call.register_events == nullptr || call.event_set_wait == nullptr) {
    return;
  }
  unsigned int count = 0;
  if (call.device_count(&count) != nvml::kSuccess) return;
  if (call.event_set_create(&events_) != nvml::kSuccess) {
    events_ = nullptr;
    return;
  }
  for (unsigned int index = 0; index < count; ++index) {
    Known known;
    char uuid[nvml::kTextBytes] = {};
    if (call.device_by_index(index, &known.device) != nvml::kSuccess) continue;
    if (call.device_uuid(known.device, uuid, sizeof uuid - 1) != nvml::kSuccess) continue;
    known.uuid = uuid;
    known_.push_back(known);
    // A card without such events is watched by its readings alone.
    static_cast<void>(call.register_events(known.device, nvml::kEventXid, events_));
  }
}

void NvmlSampler::take_errors(GpuSample& sample) {
  const Functions& call = library_->call();
  nvml::EventData event{};
  for (int i = 0; events_ != nullptr && i < kErrorsPerLook; ++i) {
    if (call.event_set_wait(events_, &event, 0) != nvml::kSuccess) return;
    const auto known = std::ranges::find(known_, event.device, &Known::device);
    if (event.type != nvml::kEventXid || known == known_.end()) continue;
    sample.xids.push_back(XidReport{known->uuid, static_cast<int64_t>(event.data)});
  }
}

Result<GpuSample> NvmlSampler::sample() {
  GpuSample sample;
  TRY_ASSIGN(const bool driver, open());
  if (!driver) return sample;
  const Functions& call = library_->call();
  sample.simulated = library_->is_simulated();
  unsigned int count = 0;
  if (const auto code = call.device_count(&count); code != nvml::kSuccess) {
    close();
    return nvml::driver_refuses(code);
  }
  bool healthy = true;
  for (unsigned int index = 0; index < count; ++index) {
    nvml::Device device = nullptr;
    const auto code = call.device_by_index(index, &device);
    if (code == nvml::kSuccess) sample.cards.push_back(Reader(call, device).read());
    // One without a handle has no identity either: it is missing from what is known.
    healthy = healthy && code == nvml::kSuccess && sample.cards.back().fault.empty();
  }
  take_errors(sample);
  if (!healthy) close();
  return sample;
}

}  // namespace cardhour
