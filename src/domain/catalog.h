// The catalog: GPU models and models to run on them, as published, each with its source. Loaded
// from catalog/gpu-models.toml and catalog/model-presets.toml by bin/. Pure data and look-up.
#pragma once

#include <boost/describe/class.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "domain/estimate/model.h"

namespace cardhour {

struct GpuModel {
  std::string key;                        // "rtx-4090": the word of API, CLI and price book
  std::string name;                       // "RTX 4090"
  std::vector<std::string> driver_names;  // what NVML calls it, without vendor prefix
  int64_t vram_bytes = 0;
  double bandwidth_gb_per_s = 0;
  double fp32_tflops = 0;
  double fp16_tflops = 0;    // dense tensor FP16/BF16
  double int8_tops = 0;      // dense
  std::string interconnect;  // "PCIe 4.0 x16", "NVLink 600 GB/s"
  bool ecc = false;
  std::string compute_capability;  // "8.9"; empty for cards that are not CUDA
  std::string warning;             // what a renter must know, or empty
  std::string source;              // where the figures were published
};
BOOST_DESCRIBE_STRUCT(GpuModel, (),
                      (key, name, driver_names, vram_bytes, bandwidth_gb_per_s, fp32_tflops,
                       fp16_tflops, int8_tops, interconnect, ecc, compute_capability, warning,
                       source))

class Catalog {
 public:
  Catalog() = default;
  explicit Catalog(std::vector<GpuModel> models, estimate::ModelPresets presets = {})
      : models_(std::move(models)), presets_(std::move(presets)) {}

  const std::vector<GpuModel>& models() const { return models_; }
  const GpuModel* by_key(std::string_view key) const;
  // What a person types: "4090", "rtx4090", "RTX 4090", "a100-80g". Null when unknown or
  // ambiguous.
  const GpuModel* by_word(std::string_view word) const;
  // The model of a card by the driver's name and memory; null when unknown.
  const GpuModel* by_driver_name(std::string_view name, int64_t memory_bytes) const;
  // Keys, for error messages.
  std::string keys() const;
  const estimate::ModelPresets& presets() const { return presets_; }

 private:
  std::vector<GpuModel> models_;
  estimate::ModelPresets presets_;
};

}  // namespace cardhour
