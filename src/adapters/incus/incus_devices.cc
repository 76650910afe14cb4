#include "adapters/incus/incus_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "adapters/incus/incus_look.h"
#include "adapters/incus/sim_cards.h"
#include "base/check.h"

namespace cardhour::incus {
namespace json = boost::json;
namespace {

constexpr int64_t kIdmapSize = 65536;
constexpr int kMillicoresPerCore = 1000;

// A subvolume has no quota of its own: making one inside escapes the disk limit. The four
// ioctls that make subvolumes and snapshots, compared on their low 32 bits only, because the
// kernel ignores the high ones. Incus keeps its own default denials beside these.
constexpr std::string_view kDeniedSyscalls =
    "ioctl errno 1 [1,0x5000940e,SCMP_CMP_MASKED_EQ,0xffffffff]\n"
    "ioctl errno 1 [1,0x50009418,SCMP_CMP_MASKED_EQ,0xffffffff]\n"
    "ioctl errno 1 [1,0x50009401,SCMP_CMP_MASKED_EQ,0xffffffff]\n"
    "ioctl errno 1 [1,0x50009417,SCMP_CMP_MASKED_EQ,0xffffffff]";

std::string bytes(int64_t count) { return fmt::format("{}B", count); }

json::object root(const IncusOptions& options, const EngineSpec& spec) {
  json::object disk = {{"type", "disk"},
                       {"path", "/"},
                       {"pool", options.pool},
                       {"size", bytes(spec.system_disk_bytes)}};
  if (options.disk_bytes_per_second_max > 0) {
    disk["limits.read"] = bytes(options.disk_bytes_per_second_max);
    disk["limits.write"] = bytes(options.disk_bytes_per_second_max);
  }
  return disk;
}

json::object nic(const IncusOptions& options, const EngineSpec& spec) {
  return {{"type", "nic"},
          {"name", "eth0"},
          {"network", options.network},
          {"ipv4.address", spec.ipv4},
          {"security.port_isolation", "true"},
          {"security.mac_filtering", "true"},
          {"security.ipv4_filtering", "true"},
          {"security.ipv6_filtering", "true"}};
}

json::object ssh_proxy(const IncusOptions& options, const EngineSpec& spec) {
  const std::string listen = fmt::format("tcp:{}:{}", options.ssh_listen, spec.ssh_port);
  if (uses_nat(options.ssh_listen)) {
    return {{"type", "proxy"},
            {"nat", "true"},
            {"listen", listen},
            {"connect", fmt::format("tcp:{}:22", spec.ipv4)}};
  }
  return {{"type", "proxy"}, {"listen", listen}, {"connect", "tcp:127.0.0.1:22"}};
}

// A gpu device without a selector passes every card of the host: never without an address.
Result<json::object> gpu(const EngineCard& card) {
  if (card.pci_address.empty()) {
    return fail(ErrorCode::engine_failed,
                text("card {} has no PCI address now; is it still in the host?",
                     "显卡 {} 目前没有 PCI 地址，它还在主机里吗？", card.uuid.text));
  }
  return json::object{{"type", "gpu"}, {"gputype", "physical"}, {"pci", card.pci_address}};
}

bool is_simulated(const EngineCard& card) { return card.simulated; }

}  // namespace

std::string data_volume_name(const InstanceId& id) { return id.text + "-data"; }

bool uses_nat(const std::string& ssh_listen) {
  return !ssh_listen.starts_with("127.") && ssh_listen != "0.0.0.0";
}

json::object fixed_config(const IncusOptions& options, const EngineSpec& spec) {
  return {{"boot.autostart", "false"},
          {"security.privileged", "false"},
          {"security.nesting", spec.nesting ? "true" : "false"},
          {"security.idmap.isolated", "true"},
          {"security.idmap.base", std::to_string(spec.idmap_base)},
          {"security.idmap.size", std::to_string(kIdmapSize)},
          {"security.syscalls.deny", kDeniedSyscalls},
          // Our guest speaks HTTP with a token of its own; Incus's socket is one door less.
          {"security.guestapi", "false"},
          {"limits.processes", std::to_string(options.processes_max)},
          {kTagDeployment, options.deployment},
          {kTagInstance, spec.id.text},
          {kTagAccount, spec.account.text},
          {kTagImage, spec.image}};
}

json::object shape_config(const EngineShape& shape) {
  CHECK(shape.millicores > 0 && shape.memory_bytes > 0, "to Incus, no limit is no limit");
  std::string uuids;
  for (const EngineCard& card : shape.cards) {
    if (!uuids.empty()) uuids += ",";
    uuids += card.uuid.text;
  }
  const int cores = (shape.millicores + kMillicoresPerCore - 1) / kMillicoresPerCore;
  json::object config = {
      // Which processors it may use, so that nproc says the truth; and how much of them.
      {"limits.cpu", std::to_string(std::max(cores, 1))},
      {"limits.cpu.allowance", fmt::format("{}ms/100ms", std::max(shape.millicores / 10, 1))},
      {"limits.memory", bytes(shape.memory_bytes)},
      {"limits.memory.swap", "false"},
      {kTagCards, uuids}};
  const bool has_real_card = !std::ranges::all_of(shape.cards, is_simulated);
  config["nvidia.runtime"] = has_real_card ? json::value("true") : json::value();
  config["nvidia.driver.capabilities"] =
      has_real_card ? json::value("compute,utility,video,graphics") : json::value();
  return config;
}

Result<json::object> devices(const IncusOptions& options, const EngineSpec& spec,
                             const EngineShape& shape) {
  json::object all;
  all["root"] = root(options, spec);
  all["eth0"] = nic(options, spec);
  all["guest"] = {{"type", "disk"},
                  {"path", "/opt/cardhour"},
                  {"source", options.guest_dir},
                  {"readonly", "true"},
                  {"shift", "true"}};
  all["ssh"] = ssh_proxy(options, spec);
  if (spec.data_disk_bytes > 0) {
    all["data"] = {{"type", "disk"},
                   {"path", "/root/data"},
                   {"pool", options.pool},
                   {"source", data_volume_name(spec.id)}};
  }
  int index = 0;
  for (const EngineCard& card : shape.cards) {
    if (card.simulated) continue;
    TRY_ASSIGN(all[fmt::format("gpu{}", index++)], gpu(card));
  }
  if (std::ranges::any_of(shape.cards, is_simulated)) {
    all["sim-cards"] = {{"type", "disk"},
                        {"path", "/opt/cardhour-sim"},
                        {"source", sim_cards_dir(options.state_dir, spec.id)},
                        {"readonly", "true"},
                        {"shift", "true"}};
  }
  return all;
}

}  // namespace cardhour::incus
