// Telemetry: what a card says of itself at one look, and which processes use it. Every reading
// is optional: nullopt is the driver's [N/A], which is unknown, neither zero nor absent. Pure
// data; numbers are whole, with the unit last in the name.
#pragma once

#include <boost/describe/class.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace cardhour {

struct CardReading {
  std::optional<int64_t> gpu_percent;     // of the time, a kernel was running
  std::optional<int64_t> memory_percent;  // of the time, memory was read or written
  std::optional<int64_t> memory_total_bytes;
  std::optional<int64_t> memory_used_bytes;  // by programs, without the driver's own reserve
  std::optional<int64_t> power_milliwatts;
  std::optional<int64_t> power_limit_milliwatts;
  std::optional<int64_t> temperature_celsius;
  std::optional<int64_t> sm_clock_mhz;
  std::optional<int64_t> sm_clock_max_mhz;
  std::optional<int64_t> memory_clock_mhz;
  std::optional<int64_t> throttle_reasons;  // bits, see throttle::
  std::optional<int64_t> pcie_sent_bytes_per_second;
  std::optional<int64_t> pcie_received_bytes_per_second;
  std::optional<int64_t> pcie_generation;
  std::optional<int64_t> pcie_generation_max;
  std::optional<int64_t> pcie_width;
  std::optional<int64_t> pcie_width_max;
  std::optional<int64_t> pcie_replays;          // since the driver was loaded
  std::optional<int64_t> nvlinks_active;        // absent: the card has none
  std::optional<int64_t> nvlink_sent_kib;       // since the driver was loaded
  std::optional<int64_t> nvlink_received_kib;   // the same
  std::optional<int64_t> ecc_corrected;         // since the driver was loaded
  std::optional<int64_t> ecc_uncorrected;       // the same
  std::optional<int64_t> row_remap_is_pending;  // 1: waits for a reset of the card
  std::optional<int64_t> row_remap_has_failed;  // 1: spare rows have run out

  bool operator==(const CardReading&) const = default;
};
BOOST_DESCRIBE_STRUCT(CardReading, (),
                      (gpu_percent, memory_percent, memory_total_bytes, memory_used_bytes,
                       power_milliwatts, power_limit_milliwatts, temperature_celsius, sm_clock_mhz,
                       sm_clock_max_mhz, memory_clock_mhz, throttle_reasons,
                       pcie_sent_bytes_per_second, pcie_received_bytes_per_second, pcie_generation,
                       pcie_generation_max, pcie_width, pcie_width_max, pcie_replays,
                       nvlinks_active, nvlink_sent_kib, nvlink_received_kib, ecc_corrected,
                       ecc_uncorrected, row_remap_is_pending, row_remap_has_failed))

// Why the clocks are lower than they could be: NVML's bits.
namespace throttle {
inline constexpr int64_t kIdle = 0x1;
inline constexpr int64_t kPowerCap = 0x4;
inline constexpr int64_t kHardware = 0x8;
inline constexpr int64_t kSoftwareThermal = 0x20;
inline constexpr int64_t kHardwareThermal = 0x40;
inline constexpr int64_t kPowerBrake = 0x80;
// Those that an operator can do something about.
inline constexpr int64_t kTrouble = kHardware | kSoftwareThermal | kHardwareThermal | kPowerBrake;
}  // namespace throttle

// One process with a context on a card, as driver and host tell.
struct GpuProcess {
  int64_t pid = 0;  // on the host
  bool is_graphics = false;
  std::optional<int64_t> memory_used_bytes;
  std::optional<int64_t> gpu_slice;      // MIG: the GPU instance it runs in
  std::optional<int64_t> compute_slice;  // MIG: the compute instance
  std::string container;                 // the engine's name; empty: a process of the host
  std::optional<int64_t> uid;            // inside the container; nullopt: the process was gone
  std::string user;                      // the name there, when its /etc/passwd has one
  std::string command;

  bool operator==(const GpuProcess&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuProcess, (),
                      (pid, is_graphics, memory_used_bytes, gpu_slice, compute_slice, container,
                       uid, user, command))

// A part of a card that was divided with MIG.
struct CardSlice {
  std::string uuid;  // "MIG-..."
  std::optional<int64_t> gpu_slice;
  std::optional<int64_t> compute_slice;
  std::optional<int64_t> memory_total_bytes;
  std::optional<int64_t> memory_used_bytes;

  bool operator==(const CardSlice&) const = default;
};
BOOST_DESCRIBE_STRUCT(CardSlice, (),
                      (uuid, gpu_slice, compute_slice, memory_total_bytes, memory_used_bytes))

struct CardSample {
  std::string uuid;
  std::string fault;  // "GPU_IS_LOST"; empty when it answers
  CardReading reading;
  bool is_divided = false;  // MIG is on
  std::vector<CardSlice> slices;
  std::vector<GpuProcess> processes;

  bool operator==(const CardSample&) const = default;
};
BOOST_DESCRIBE_STRUCT(CardSample, (), (uuid, fault, reading, is_divided, slices, processes))

// The driver's report of an error of a card.
struct XidReport {
  std::string uuid;
  int64_t code = 0;

  bool operator==(const XidReport&) const = default;
};
BOOST_DESCRIBE_STRUCT(XidReport, (), (uuid, code))

// One look at all cards of a host.
struct GpuSample {
  bool simulated = false;
  std::vector<CardSample> cards;
  std::vector<XidReport> xids;  // reported since the look before

  bool operator==(const GpuSample&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuSample, (), (simulated, cards, xids))

}  // namespace cardhour
