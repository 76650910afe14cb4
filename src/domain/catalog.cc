#include "domain/catalog.h"

#include <algorithm>

namespace cardhour {
namespace {

// "RTX 4090" and "rtx-4090" are the same word: letters and digits, lower case.
std::string folded(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out.push_back(c);
  }
  return out;
}

}  // namespace

const GpuModel* Catalog::by_key(std::string_view key) const {
  const auto found = std::find_if(models_.begin(), models_.end(),
                                  [&](const GpuModel& model) { return model.key == key; });
  return found == models_.end() ? nullptr : &*found;
}

const GpuModel* Catalog::by_word(std::string_view word) const {
  const std::string wanted = folded(word);
  if (wanted.empty()) return nullptr;
  const GpuModel* match = nullptr;
  int matches = 0;
  for (const GpuModel& model : models_) {
    const std::string key = folded(model.key);
    if (key == wanted) return &model;
    // "4090" for rtx-4090, "a100" when only one size of it is in the catalog.
    const bool ends = key.size() > wanted.size() && key.ends_with(wanted);
    const bool begins = key.size() > wanted.size() && key.starts_with(wanted);
    if (ends || begins) {
      match = &model;
      ++matches;
    }
  }
  return matches == 1 ? match : nullptr;
}

const GpuModel* Catalog::by_driver_name(std::string_view name, int64_t memory_bytes) const {
  constexpr std::string_view kMark = " (SIMULATED)";
  if (name.ends_with(kMark)) name.remove_suffix(kMark.size());
  for (std::string_view vendor : {"NVIDIA GeForce ", "NVIDIA ", "GeForce "}) {
    if (name.starts_with(vendor)) {
      name.remove_prefix(vendor.size());
      break;
    }
  }
  const GpuModel* best = nullptr;
  int64_t best_distance = 0;
  for (const GpuModel& model : models_) {
    const auto& names = model.driver_names;
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    // Two sizes share a name (A100-SXM4): the nearer memory decides.
    const int64_t distance = std::abs(model.vram_bytes - memory_bytes);
    if (best == nullptr || distance < best_distance) {
      best = &model;
      best_distance = distance;
    }
  }
  return best;
}

std::string Catalog::keys() const {
  std::string text;
  for (const GpuModel& model : models_) {
    if (!text.empty()) text += ", ";
    text += model.key;
  }
  return text;
}

}  // namespace cardhour
