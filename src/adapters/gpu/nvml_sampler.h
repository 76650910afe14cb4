// NvmlSampler: readings, processes and Xid reports of all cards, over a driver that stays open
// between looks, so that reports in between are not lost. Lives in the child process
// (gpu_child.h): every call may take as long as the driver does.
// One card or one reading that fails never hides the others: what is not answered is nullopt,
// and what is more than lack of support is the card's fault. After a fault, and every ten
// minutes, the driver is opened anew, so that an upgrade or a card that came back is seen.
// Not thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "adapters/gpu/nvml.h"
#include "ports/gpu_probe.h"

namespace cardhour {

class NvmlSampler {
 public:
  explicit NvmlSampler(std::string library_path) : library_path_(std::move(library_path)) {}
  ~NvmlSampler() { close(); }
  NvmlSampler(const NvmlSampler&) = delete;
  NvmlSampler& operator=(const NvmlSampler&) = delete;

  // As GpuProbe::sample, without what the host knows of the processes.
  Result<GpuSample> sample();

 private:
  struct Known {  // a card with its handle, for the events that name only the handle
    nvml::Device device = nullptr;
    std::string uuid;
  };

  // False: there is no driver.
  Result<bool> open();
  void close();
  void watch_for_errors();
  void take_errors(GpuSample& sample);

  std::string library_path_;
  std::optional<nvml::Library> library_;
  std::vector<Known> known_;
  nvml::EventSet events_ = nullptr;
  std::chrono::steady_clock::time_point opened_at_;
};

}  // namespace cardhour
