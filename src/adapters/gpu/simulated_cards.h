// The cards of a simulated driver, as text. What people write is short:
//   8xRTX4090,2xA100-80G
// and what is mounted into an instance, so that it sees exactly its own cards, is long:
//   driver=550.54.14-SIMULATED
//   cuda=12.4
//   uuid=GPU-... name=NVIDIA GeForce RTX 4090 pci=0000:10:00.0 memory=25769803776 used=0 cc=8.9
// Lines of both kinds may be mixed; ';' ends a line too; '#' begins a comment. A line
// "seed=host2" makes the uuids of the short form differ from those of another host with
// the same cards. What a card is like beyond its name is filled in from its model; what it does
// is told by more fields:
//   util=80 membw=40 power=310 limit=450 temp=71 clock=2520 memclock=10501 throttle=0x20
//   tx=1000 rx=90000 (KB/s) link=4x16 replays=0 nvlinks=12 nvtx=0 nvrx=0 (KiB, cumulative)
//   ecc=2/0 (corrected/uncorrected) remap=pending|failed xids=13+31
//   procs=4711:8000+4712:na+99:10:g (pid : MiB : g for graphics; @2 at the end: MIG slice 2)
//   mig=1g.10gb+2g.20gb (MIG is on)     na=power+temp (these are [N/A])
//   hang=util (this call never returns) slow=50 (ms, each reading)
// "fault=lost": the driver still knows the card, but every reading fails; "fault=gone": not even
// a handle is to be had. For the driver as a whole: "init=mismatch", "init=unloaded",
// "init=hang". "card=3 util=90" changes a card that is there already, by its number.
// Whatever this describes says that it is simulated, in name and driver version.
// Pure functions; thread-safe. Goes into the simulated library: no fmt, no Boost library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ports/gpu_probe.h"

namespace cardhour {

enum class SimulatedFault { none, lost, gone };

// A process that uses a simulated card.
struct SimulatedProcess {
  unsigned int pid = 0;
  int64_t memory_bytes = -1;  // -1: [N/A]
  bool is_graphics = false;
  int slice = -1;  // of MIG; -1: none
};

// What NVIDIA publishes of a model, as far as a driver tells.
struct SimulatedModel {
  std::string_view word;  // "RTX4090"
  std::string_view name;
  int64_t memory_gib;
  int compute_major;
  int compute_minor;
  unsigned int power_limit_watts;
  unsigned int clock_max_mhz;
  unsigned int memory_clock_mhz;
  unsigned int pcie_generation;
  unsigned int nvlinks;  // 0: none
  bool has_ecc;
  bool can_be_divided;
};

struct SimulatedCard {
  std::string uuid;
  std::string name;
  unsigned int pci_domain = 0;
  unsigned int pci_bus = 0;
  unsigned int pci_device = 0;
  int64_t memory_total_bytes = 0;
  int64_t memory_used_bytes = 0;
  int64_t memory_reserved_bytes = 0;  // by the driver, besides what is used
  int compute_major = 0;
  int compute_minor = 0;
  SimulatedFault fault = SimulatedFault::none;

  unsigned int gpu_percent = 0;
  unsigned int memory_percent = 0;
  unsigned int power_milliwatts = 0;
  unsigned int power_limit_milliwatts = 0;
  unsigned int temperature_celsius = 0;
  unsigned int clock_mhz = 0;
  unsigned int clock_max_mhz = 0;
  unsigned int memory_clock_mhz = 0;
  unsigned long long throttle_reasons = 0;
  unsigned int pcie_sent_kb = 0;
  unsigned int pcie_received_kb = 0;
  unsigned int pcie_generation = 0;
  unsigned int pcie_generation_max = 0;
  unsigned int pcie_width = 16;
  unsigned int pcie_width_max = 16;
  unsigned int pcie_replays = 0;
  unsigned int nvlinks = 0;
  unsigned long long nvlink_sent_kib = 0;
  unsigned long long nvlink_received_kib = 0;
  bool has_ecc = false;
  unsigned long long ecc_corrected = 0;
  unsigned long long ecc_uncorrected = 0;
  bool remap_is_pending = false;
  bool remap_has_failed = false;
  bool can_be_divided = false;
  std::vector<std::string> slices;  // MIG profiles; not empty: MIG is on
  std::vector<unsigned long long> xids;
  std::vector<SimulatedProcess> processes;
  std::vector<std::string> unknown;  // readings that are [N/A]: "power", "util", ...
  std::string hangs;                 // the reading that never returns
  unsigned int slow_ms = 0;
};

enum class SimulatedStart { works, mismatch, unloaded, hangs };

struct SimulatedHost {
  std::string driver_version = "550.54.14-SIMULATED";
  int cuda_version = 12040;  // NVML's form: 1000 x major + 10 x minor
  SimulatedStart start = SimulatedStart::works;
  std::vector<SimulatedCard> cards;
};

// At most 64 cards. An empty text is a host without cards.
Result<SimulatedHost> parse_simulated_cards(std::string_view text);

// The long form of these cards; parse_simulated_cards reads it back.
std::string write_simulated_cards(const ProbedGpus& gpus);

}  // namespace cardhour
