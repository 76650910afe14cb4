// What is there: hosts, instances, images.
#include "adapters/incus/incus_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "adapters/incus/host_ports.h"
#include "adapters/incus/incus_client.h"
#include "adapters/incus/incus_devices.h"
#include "adapters/incus/incus_look.h"
#include "base/check.h"

namespace cardhour {
namespace json = boost::json;

namespace incus {

const json::value& at(const json::value& value, std::string_view key) {
  static const json::value kNothing;
  const json::object* object = value.if_object();
  const json::value* found = object != nullptr ? object->if_contains(key) : nullptr;
  return found != nullptr ? *found : kNothing;
}

std::string text_at(const json::value& value, std::string_view key) {
  const json::string* text = at(value, key).if_string();
  return text != nullptr ? std::string(*text) : std::string();
}

int64_t number_at(const json::value& value, std::string_view key) {
  const json::value& number = at(value, key);
  if (const int64_t* whole = number.if_int64()) return *whole;
  if (const uint64_t* whole = number.if_uint64()) return static_cast<int64_t>(*whole);
  return 0;
}

std::string instance_path(const InstanceId& id) {
  CHECK(is_id_text('i', id.text), "an instance id that is none reached the engine");
  return "/1.0/instances/" + id.text;
}

}  // namespace incus

namespace {

using incus::at;
using incus::number_at;
using incus::text_at;

constexpr int64_t kStatusFinalFrom = 200;  // an operation's status code: 100 to 199 goes on

struct Flight {
  std::string operation;
  std::string description;
};

// These leave an instance in the state that it is in.
bool changes_state(std::string_view description) {
  return description != "Executing command" && description != "Snapshotting instance" &&
         description != "Backing up instance" && description != "Showing console";
}

// The operation at work on each instance, by name.
std::map<std::string, Flight, std::less<>> flights(const json::value& operations) {
  std::map<std::string, Flight, std::less<>> out;
  if (!operations.is_object()) return out;
  for (const auto& group : operations.get_object()) {
    if (!group.value().is_array()) continue;
    for (const json::value& operation : group.value().get_array()) {
      const std::string description = text_at(operation, "description");
      const bool over = number_at(operation, "status_code") >= kStatusFinalFrom;
      const json::value& instances = at(at(operation, "resources"), "instances");
      if (over || !changes_state(description) || !instances.is_array()) continue;
      for (const json::value& instance : instances.get_array()) {
        if (!instance.is_string()) continue;
        // "/1.0/instances/NAME?project=cardhour"
        std::string name(instance.get_string());
        name.resize(std::min(name.find('?'), name.size()));
        name.erase(0, name.rfind('/') + 1);
        out[name] = {text_at(operation, "id"), description};
      }
    }
  }
  return out;
}

EngineStatus status_of(std::string_view status) {
  if (status == "Running" || status == "Ready" || status == "Frozen") return EngineStatus::running;
  if (status == "Stopped") return EngineStatus::stopped;
  return EngineStatus::busy;  // Starting, Stopping, Aborting, Error, ...
}

}  // namespace

std::string gateway_of(const std::string& subnet) { return subnet.substr(0, subnet.find('/')); }

IncusEngine::IncusEngine(IncusOptions options)
    : options_(std::move(options)),
      client_(std::make_unique<IncusClient>(options_.socket, options_.project)),
      firewall_(std::make_unique<Firewall>(
          FirewallOptions{.bridge = options_.network,
                          .bridge_address = gateway_of(options_.subnet),
                          .guest_api_port = options_.guest_api_port,
                          .connections_per_second_max = options_.connections_per_second_max,
                          .ssh_port_first = options_.ssh_port_first,
                          .ssh_port_last = options_.ssh_port_last,
                          .allow = options_.allow})) {}

IncusEngine::~IncusEngine() = default;

Result<std::vector<EngineHost>> IncusEngine::hosts() {
  // Polled every few seconds: what runs is covered again soon after somebody flushed the
  // rules. A failure is told by the next start, which refuses.
  static_cast<void>(firewall_->keep());
  TRY_ASSIGN(const json::value server, client_->get("/1.0"));
  TRY_ASSIGN(const json::value resources, client_->get("/1.0/resources"));
  TRY_ASSIGN(const json::value pool,
             client_->get(fmt::format("/1.0/storage-pools/{}/resources", options_.pool)));
  EngineHost host;
  host.name = text_at(at(server, "environment"), "server_name");
  host.version = text_at(at(server, "environment"), "server_version");
  host.cpu_total = static_cast<int>(number_at(at(resources, "cpu"), "total"));
  host.memory_bytes = number_at(at(resources, "memory"), "total");
  host.pool_total_bytes = number_at(at(pool, "space"), "total");
  host.pool_used_bytes = number_at(at(pool, "space"), "used");
  const json::value& cards = at(at(resources, "gpu"), "cards");
  if (cards.is_array()) {
    for (const json::value& card : cards.get_array()) {
      const std::string address = text_at(card, "pci_address");
      if (!address.empty()) host.gpu_pci.push_back(address);
    }
  }
  return std::vector<EngineHost>{std::move(host)};
}

Result<std::vector<EngineInstance>> IncusEngine::list() {
  // Operations first: one that ends in between leaves its result in the list that follows,
  // while one that begins in between is a change after this moment.
  TRY_ASSIGN(const json::value operations, client_->get("/1.0/operations?recursion=1"));
  const auto in_flight = flights(operations);
  // The filter is a case-insensitive pattern: it only saves traffic, the tag is compared here.
  TRY_ASSIGN(const json::value instances,
             client_->get("/1.0/instances?recursion=1&filter=" +
                          url_escaped(fmt::format("config.{} eq {}", incus::kTagDeployment,
                                                  options_.deployment))));
  std::vector<EngineInstance> out;
  if (!instances.is_array()) return out;
  for (const json::value& instance : instances.get_array()) {
    const json::value& config = at(instance, "config");
    const std::string name = text_at(instance, "name");
    const bool ours = text_at(config, incus::kTagDeployment) == options_.deployment &&
                      text_at(config, incus::kTagInstance) == name && is_id_text('i', name);
    if (!ours || text_at(config, incus::kTagCreated).empty()) continue;
    EngineInstance entry{.id = {name}, .status = status_of(text_at(instance, "status"))};
    if (in_flight.contains(name)) entry.status = EngineStatus::busy;
    if (entry.status == EngineStatus::running) entry.run = text_at(instance, "last_used_at");
    out.push_back(std::move(entry));
  }
  return out;
}

Result<IncusEngine::Look> IncusEngine::look(const InstanceId& id) {
  TRY_ASSIGN(const json::value operations, client_->get("/1.0/operations?recursion=1"));
  Look out;
  const auto in_flight = flights(operations);
  if (const auto flight = in_flight.find(id.text); flight != in_flight.end()) {
    out.operation = flight->second.operation;
    out.description = flight->second.description;
  }
  auto instance = client_->get(incus::instance_path(id));
  if (!instance && instance.error().code != ErrorCode::not_found) {
    return fail(std::move(instance).error());
  }
  if (instance) {
    const json::value& config = at(*instance, "config");
    const bool ours = text_at(config, incus::kTagDeployment) == options_.deployment &&
                      text_at(config, incus::kTagInstance) == id.text;
    const bool created = !text_at(config, incus::kTagCreated).empty();
    out.kind = !ours ? Look::Kind::foreign : created ? Look::Kind::ours : Look::Kind::husk;
    out.status = status_of(text_at(*instance, "status"));
    out.run = text_at(*instance, "last_used_at");
  }
  if (!out.operation.empty()) out.status = EngineStatus::busy;
  return out;
}

Result<std::optional<EngineInstance>> IncusEngine::find(const InstanceId& id) {
  TRY_ASSIGN(const Look now, look(id));
  // A husk is none, unless its creation still goes on.
  const bool there =
      now.kind == Look::Kind::ours || (now.kind != Look::Kind::foreign && now.busy());
  if (!there) return std::optional<EngineInstance>();
  EngineInstance out{.id = id, .status = now.status};
  if (now.running()) out.run = now.run;
  return std::optional<EngineInstance>(std::move(out));
}

Result<std::vector<std::string>> IncusEngine::images() {
  TRY_ASSIGN(const json::value aliases, client_->get("/1.0/images/aliases?recursion=1"));
  std::vector<std::string> names;
  if (!aliases.is_array()) return names;
  for (const json::value& alias : aliases.get_array()) names.push_back(text_at(alias, "name"));
  return names;
}

Result<bool> IncusEngine::port_is_free(int port) { return can_bind(options_.ssh_listen, port); }

std::string IncusEngine::guest_url() const {
  if (options_.guest_api_port == 0) return {};
  return fmt::format("http://{}:{}", gateway_of(options_.subnet), options_.guest_api_port);
}

}  // namespace cardhour
