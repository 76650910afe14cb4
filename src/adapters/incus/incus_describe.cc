// What an instance is made of, read back from the object and the tags that
// incus_instances.cc wrote: the reverse of incus_devices.cc.
#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "adapters/incus/incus_client.h"
#include "adapters/incus/incus_devices.h"
#include "adapters/incus/incus_engine.h"
#include "adapters/incus/incus_look.h"

namespace cardhour {
namespace json = boost::json;
namespace {

using incus::at;
using incus::text_at;

// The number that the text begins with; 0 when there is none.
int64_t leading_number(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<CardId> cards_of(std::string_view tag) {
  std::vector<CardId> cards;
  while (!tag.empty()) {
    const size_t comma = std::min(tag.find(','), tag.size());
    if (comma > 0) cards.push_back(CardId{std::string(tag.substr(0, comma))});
    tag.remove_prefix(std::min(comma + 1, tag.size()));
  }
  return cards;
}

// "tcp:127.0.0.1:22017"
int port_of(std::string_view listen) {
  return static_cast<int>(leading_number(listen.substr(listen.rfind(':') + 1)));
}

EngineSpec spec_of(const InstanceId& id, const json::value& config, const json::value& devices) {
  EngineSpec spec;
  spec.id = id;
  spec.account = AccountId{text_at(config, incus::kTagAccount)};
  spec.image = text_at(config, incus::kTagImage);
  spec.system_disk_bytes = leading_number(text_at(at(devices, "root"), "size"));
  spec.nesting = text_at(config, "security.nesting") == "true";
  spec.ipv4 = text_at(at(devices, "eth0"), "ipv4.address");
  spec.idmap_base = leading_number(text_at(config, "security.idmap.base"));
  spec.ssh_port = port_of(text_at(at(devices, "ssh"), "listen"));
  return spec;
}

}  // namespace

Result<std::optional<EngineObject>> IncusEngine::describe(const InstanceId& id) {
  TRY_ASSIGN(const auto found, find(id));
  if (!found) return std::nullopt;
  const auto instance = client_->get(incus::instance_path(id));
  if (!instance && instance.error().code == ErrorCode::not_found) return std::nullopt;
  if (!instance) return fail(instance.error());
  const json::value& config = at(*instance, "config");
  const json::value& devices = at(*instance, "devices");
  EngineObject object;
  object.seen = *found;
  object.spec = spec_of(id, config, devices);
  // As shape_config writes it: "50ms/100ms" is half a core.
  object.millicores =
      static_cast<int>(leading_number(text_at(config, "limits.cpu.allowance")) * 10);
  object.memory_bytes = leading_number(text_at(config, "limits.memory"));
  object.cards = cards_of(text_at(config, incus::kTagCards));
  object.generation = leading_number(text_at(config, incus::kTagGeneration));
  if (at(devices, "data").is_object()) {
    const auto volume = client_->get(fmt::format("/1.0/storage-pools/{}/volumes/custom/{}",
                                                 options_.pool, incus::data_volume_name(id)));
    if (!volume) return fail(volume.error());
    object.spec.data_disk_bytes = leading_number(text_at(at(*volume, "config"), "size"));
  }
  return std::optional<EngineObject>(std::move(object));
}

}  // namespace cardhour
