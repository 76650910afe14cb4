// What running instances use, in one call of Incus's, and what it does not tell from the host.
#include <fmt/format.h>

#include "adapters/incus/host_facts.h"
#include "adapters/incus/incus_client.h"
#include "adapters/incus/incus_devices.h"
#include "adapters/incus/incus_engine.h"
#include "adapters/incus/incus_look.h"

namespace cardhour {
namespace json = boost::json;
namespace {

using incus::at;
using incus::number_at;
using incus::text_at;

// Of all networks but its loopback; nullopt when there is none.
std::optional<int64_t> network_bytes(const json::value& state, const char* counter) {
  const json::object* networks = at(state, "network").if_object();
  if (networks == nullptr) return std::nullopt;
  std::optional<int64_t> sum;
  for (const auto& network : *networks) {
    if (network.key() == "lo") continue;
    sum = sum.value_or(0) + number_at(at(network.value(), "counters"), counter);
  }
  return sum;
}

// Incus writes 0 for what it could not read; nothing that runs uses none of these.
std::optional<int64_t> positive(int64_t value) {
  return value > 0 ? std::optional<int64_t>(value) : std::nullopt;
}

EngineUsage usage_of(const InstanceId& id, const json::value& state) {
  constexpr int64_t kNanosecondsPerMillisecond = 1'000'000;
  EngineUsage usage{.id = id};
  const auto cpu = positive(number_at(at(state, "cpu"), "usage"));
  if (cpu) usage.cpu_ms = *cpu / kNanosecondsPerMillisecond;
  usage.memory_used_bytes = positive(number_at(at(state, "memory"), "usage"));
  usage.network_received_bytes = network_bytes(state, "bytes_received");
  usage.network_sent_bytes = network_bytes(state, "bytes_sent");
  usage.processes = positive(number_at(state, "processes"));
  const int64_t pid = number_at(state, "pid");
  if (pid <= 0) return usage;
  const HostFacts host;
  usage.sessions = host.ssh_sessions(pid);
  if (const auto traffic = host.disk_traffic(pid)) {
    usage.disk_read_bytes = traffic->read_bytes;
    usage.disk_written_bytes = traffic->written_bytes;
  }
  return usage;
}

}  // namespace

Result<std::vector<EngineUsage>> IncusEngine::usage() {
  // The filter is a case-insensitive pattern: it only saves traffic, the tag is compared here.
  TRY_ASSIGN(const json::value instances,
             client_->get("/1.0/instances?recursion=2&filter=" +
                          url_escaped(fmt::format("config.{} eq {}", incus::kTagDeployment,
                                                  options_.deployment))));
  std::vector<EngineUsage> out;
  if (!instances.is_array()) return out;
  for (const json::value& instance : instances.get_array()) {
    const json::value& config = at(instance, "config");
    const std::string name = text_at(instance, "name");
    const bool ours = text_at(config, incus::kTagDeployment) == options_.deployment &&
                      text_at(config, incus::kTagInstance) == name && is_id_text('i', name);
    const json::value& state = at(instance, "state");
    if (!ours || !state.is_object() || number_at(state, "pid") <= 0) continue;
    out.push_back(usage_of({name}, state));
  }
  return out;
}

}  // namespace cardhour
