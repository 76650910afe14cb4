// NvmlProbe: asks the driver of this host through NVML which cards there are.
// One card that fails never hides the others: what it does not answer is nullopt, and a
// failure that is not mere lack of support is its fault ("GPU_IS_LOST"). A card that is
// gone from the bus may have no uuid and no address left: only its index and its fault.
// Each probe opens and initialises the library anew, so that a driver which was installed,
// upgraded or lost is seen. Thread-safe: immutable.
#pragma once

#include <string>

#include "ports/gpu_probe.h"

namespace cardhour {

class NvmlProbe {
 public:
  explicit NvmlProbe(std::string library_path = "libnvidia-ml.so.1");

  // No library and no loaded driver: no cards. engine_failed: the driver is there, but
  // refuses (for example a library newer than the loaded module).
  Result<ProbedGpus> probe();

 private:
  std::string library_path_;
};

}  // namespace cardhour
