// cardhour-cards: says which cards are visible from where it runs, and whether their
// memory is empty. Mounted into every instance at /opt/cardhour/cardhour-cards and run
// there after each start, to compare what the instance sees with what it was given.
// Prints one line of JSON; exits with 0 also when there is no card, and carries an "error"
// when the driver refuses. Links nothing but glibc (portable.cc): it runs in
// whatever image a renter chose.
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/gpu/nvml_probe.h"

namespace {

using cardhour::NvmlProbe;
using cardhour::ProbedCard;
using cardhour::ProbedGpus;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == '"' || byte == '\\') {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string number(const std::optional<int64_t>& value) {
  return value ? std::to_string(*value) : "null";
}

std::string card_json(const ProbedCard& card) {
  return "{\"uuid\":" + quoted(card.uuid.text) + ",\"name\":" + quoted(card.name) +
         ",\"pci\":" + quoted(card.pci_address) +
         ",\"memory_total\":" + number(card.memory_total_bytes) +
         ",\"memory_used\":" + number(card.memory_used_bytes) + ",\"fault\":" + quoted(card.fault) +
         "}";
}

std::string gpus_json(const ProbedGpus& gpus, std::string_view error) {
  std::string out = "{\"driver\":" + quoted(gpus.driver_version) +
                    ",\"cuda\":" + quoted(gpus.cuda_version) +
                    ",\"simulated\":" + (gpus.simulated ? "true" : "false") + ",\"cards\":[";
  for (size_t i = 0; i < gpus.cards.size(); ++i) {
    if (i > 0) out += ",";
    out += card_json(gpus.cards[i]);
  }
  out += "]";
  if (!error.empty()) out += ",\"error\":" + quoted(error);
  return out + "}";
}

}  // namespace

int main() {
  ProbedGpus gpus;
  std::string error;
  for (const char* path : {"libnvidia-ml.so.1", "/opt/cardhour-sim/libnvidia-ml.so.1"}) {
    auto probed = NvmlProbe(path).probe();
    if (!probed) {
      error = probed.error().what.en;
      break;
    }
    gpus = std::move(*probed);
    if (!gpus.driver_version.empty()) break;
  }
  std::puts(gpus_json(gpus, error).c_str());
  return 0;
}
