#include "bin/backends.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "adapters/gpu/child_probe.h"
#include "adapters/gpu/simulated_cards.h"
#include "adapters/incus/incus_engine.h"
#include "adapters/incus/incus_shells.h"
#include "adapters/sim/sim_engine.h"
#include "adapters/sim/sim_shells.h"
#include "app/deps.h"

namespace cardhour {
namespace {

class NoCards final : public GpuProbe {
 public:
  Result<ProbedGpus> probe() override { return ProbedGpus{}; }
  Result<GpuSample> sample() override { return GpuSample{}; }
};

// The driver is asked by a child process: this program again, as `cardhour gpu-reader`.
std::unique_ptr<GpuProbe> reader_of(const std::string& library, const std::string& state_dir) {
  return std::make_unique<ChildProbe>(
      ChildProbeOptions{.command = {"/proc/self/exe", "gpu-reader", "--library", library, "--lock",
                                    state_dir + "/gpu-reader.lock"}});
}

Result<std::unique_ptr<GpuProbe>> make_probe(const ServeOptions& options,
                                             const std::string& state_dir) {
  if (options.gpus == ServeOptions::GpuKind::none) return std::make_unique<NoCards>();
  if (options.gpus == ServeOptions::GpuKind::nvml) return reader_of("libnvidia-ml.so.1", state_dir);
  const bool from_file = options.simulated_cards.starts_with('@');
  if (!from_file) TRY(parse_simulated_cards(options.simulated_cards));
  if (!std::filesystem::exists(options.simulated_library)) {
    return fail(
        ErrorCode::not_found,
        text("no simulated GPU library at {}", "找不到模拟 GPU 库 {}", options.simulated_library),
        {"name it with --sim-library", "请用 --sim-library 指定"});
  }
  // Read by the library in the child; no other thread runs yet.
  if (from_file) {
    ::setenv("CARDHOUR_NVML_SIM_FILE", options.simulated_cards.c_str() + 1, 1);
  } else {
    ::setenv("CARDHOUR_NVML_SIM", options.simulated_cards.c_str(), 1);
  }
  return reader_of(options.simulated_library, state_dir);
}

Result<std::unique_ptr<Engine>> make_sim_engine(Clock& clock, GpuProbe& probe) {
  // The first answer of a child may take its time on a busy machine.
  auto gpus = probe.probe();
  for (int attempt = 0; !gpus && attempt < 100; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    gpus = probe.probe();
  }
  if (!gpus) return fail(gpus.error());
  SimHost host;
  host.cards = gpus->cards;
  SimEngineOptions options;
  options.wait = [](Duration wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(wait.ms));
  };
  return std::make_unique<SimEngine>(clock, std::vector<SimHost>{host}, std::move(options));
}

IncusOptions incus_options(const ServeOptions& options, const PortRange& ssh_ports,
                           const std::string& state_dir) {
  IncusOptions incus;
  incus.socket = options.incus_socket;
  incus.project = options.project;
  incus.pool = options.pool;
  incus.network = options.network;
  incus.deployment = options.deployment;
  incus.subnet = options.gateway() + "/16";
  incus.ssh_listen = options.ssh_listen;
  incus.ssh_port_first = ssh_ports.first;
  incus.ssh_port_last = ssh_ports.last;
  incus.allow = options.allow;
  incus.guest_dir = options.guest_dir;
  incus.state_dir = state_dir;
  if (options.gpus == ServeOptions::GpuKind::sim) incus.sim_library = options.simulated_library;
  if (options.guest_listen && options.guest_listen->address == options.gateway()) {
    incus.guest_api_port = options.guest_listen->port;
  }
  return incus;
}

}  // namespace

Result<Backends> make_backends(const ServeOptions& options, const PortRange& ssh_ports,
                               Clock& clock, const std::string& state_dir) {
  Backends backends;
  TRY_ASSIGN(backends.probe, make_probe(options, state_dir));
  if (options.engine == ServeOptions::EngineKind::sim) {
    TRY_ASSIGN(backends.engine, make_sim_engine(clock, *backends.probe));
    backends.shells = std::make_unique<SimShells>(*backends.engine);
  } else {
    const IncusOptions incus = incus_options(options, ssh_ports, state_dir);
    backends.engine = std::make_unique<IncusEngine>(incus);
    backends.shells = std::make_unique<IncusShells>(incus, *backends.engine);
  }
  return backends;
}

}  // namespace cardhour
