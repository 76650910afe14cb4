// Create, start, stop, remove. Incus's answers about states are not trusted ("already
// running" comes from an instance that is stopping, "already stopped" from one that is
// starting): after each change the instance is looked at again, and counts only when no
// operation is at work on it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#include "adapters/incus/guest_identity.h"
#include "adapters/incus/host_ports.h"
#include "adapters/incus/incus_client.h"
#include "adapters/incus/incus_devices.h"
#include "adapters/incus/incus_engine.h"
#include "adapters/incus/incus_look.h"
#include "adapters/incus/sim_cards.h"
#include "base/size.h"

namespace cardhour {
namespace json = boost::json;
namespace {

using incus::at;
using incus::text_at;

// The first use of an image unpacks it, and creations behind it wait: 41 s were seen.
constexpr Duration kCreatePatience = minutes(10);
// With a userspace proxy 1.2 s; with a port that got taken 7.1 s.
constexpr Duration kStartPatience = minutes(2);
constexpr Duration kForcePatience = minutes(1);
constexpr Duration kDeletePatience = minutes(2);
// For what another call, or the daemon by itself, is doing with the instance.
constexpr Duration kSettlePatience = minutes(2);
constexpr std::chrono::milliseconds kPause{100};
constexpr int kAttempts = 3;
constexpr int64_t kIdmapSize = 65536;
// What a full system disk is grown by to be startable; over the years of an instance, at most.
constexpr int64_t kRescueBytes = 32 * kMiB;
constexpr int64_t kRescueBytesMax = kGiB;
// Until the first start gives it a shape.
const EngineShape kNoShape{.millicores = 500, .memory_bytes = kGiB};

tl::unexpected<Error> foreign(const std::string& name) {
  return fail(ErrorCode::engine_failed,
              text("{} exists in Incus and is not ours", "Incus 中已存在 {}，且不属于本系统", name),
              Text{"Rename or remove it by hand.", "请手动改名或删除。"});
}

// What is missing here (image, pool, bridge) is the engine's matter, not a missing instance.
Status as_refusal(Status status) {
  if (!status &&
      (status.error().code == ErrorCode::not_found || status.error().code == ErrorCode::conflict)) {
    status.error().code = ErrorCode::engine_failed;
  }
  return status;
}

Status unless_gone(Status status) {
  if (!status && status.error().code == ErrorCode::not_found) return {};
  return status;
}

bool says(const Status& status, std::string_view words) {
  return !status && status.error().what.en.find(words) != std::string::npos;
}

// Sizes are written by us as "123B"; 0 for anything else.
int64_t written_bytes(std::string_view size) {
  int64_t value = 0;
  const auto [end, wrong] = std::from_chars(size.data(), size.data() + size.size(), value);
  const bool ours = wrong == std::errc{} && std::string_view(end, size.data() + size.size()) == "B";
  return ours ? value : 0;
}

// Shrinking below what is used breaks a volume for good: a size only grows here.
void keep_larger_size(json::object& device, const json::value& before) {
  const std::string old_size = text_at(before, "size");
  if (written_bytes(old_size) > written_bytes(std::string(device["size"].as_string()))) {
    device["size"] = old_size;
  }
}

void overlay(json::object& config, const json::object& changes) {
  for (const auto& entry : changes) {
    if (entry.value().is_null()) {
      config.erase(entry.key());
    } else {
      config[entry.key()] = entry.value();
    }
  }
}

std::string next_generation(const json::object& config) {
  const std::string before = text_at(config, incus::kTagGeneration);
  int64_t value = 0;
  std::from_chars(before.data(), before.data() + before.size(), value);
  return std::to_string(value + 1);
}

// On a full system disk Incus itself cannot write what a start or a change needs.
// Incus says it in one of these ways, by where it noticed.
bool is_full(const Status& status) {
  return says(status, "quota exceeded") ||
         says(status, "saving config file for the container failed");
}

// Grows a full system disk a little, so that its owner gets in and can clear it.
Status grow_full_disk(IncusClient& client, const EngineSpec& spec) {
  const std::string path = incus::instance_path(spec.id);
  TRY_ASSIGN(const IncusDocument document, client.get_document(path));
  json::object root = at(at(document.metadata, "devices"), "root").as_object();
  const int64_t size = written_bytes(text_at(at(document.metadata, "devices").at("root"), "size"));
  if (size == 0 || size >= spec.system_disk_bytes + kRescueBytesMax) {
    return fail(ErrorCode::engine_failed,
                Text{"the system disk is full, again and again", "系统盘已满，且已多次扩容"},
                Text{"Ask the operator to grow it; the data disk is not affected.",
                     "请联系运营者扩容；数据盘不受影响。"});
  }
  root["size"] = fmt::format("{}B", size + kRescueBytes);
  return as_refusal(
      client.change({.method = "PATCH",
                     .path = path,
                     .body = json::object{{"devices", {{"root", std::move(root)}}}}}));
}

}  // namespace

Result<IncusEngine::Look> IncusEngine::settle(const InstanceId& id, Duration patience) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(patience.ms);
  while (true) {
    TRY_ASSIGN(Look now, look(id));
    if (!now.busy()) return now;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) {
      return fail(ErrorCode::engine_unavailable,
                  text("Incus is busy with {}: {}", "Incus 正在处理 {}：{}", id.text,
                       now.description.empty() ? "changing state" : now.description));
    }
    if (now.operation.empty()) {
      std::this_thread::sleep_for(kPause);
    } else {
      // How it ends does not matter here: the next look tells what came of it.
      static_cast<void>(client_->wait(now.operation, milliseconds(left.count())));
    }
  }
}

Status IncusEngine::delete_instance(const InstanceId& id) {
  return unless_gone(client_->change(
      {.method = "DELETE", .path = incus::instance_path(id), .patience = kDeletePatience}));
}

Status IncusEngine::ensure_data_volume(const EngineSpec& spec) {
  if (spec.data_disk_bytes <= 0) return {};
  const std::string all = fmt::format("/1.0/storage-pools/{}/volumes/custom", options_.pool);
  const std::string name = incus::data_volume_name(spec.id);
  const json::object size = {{"size", fmt::format("{}B", spec.data_disk_bytes)}};
  auto volume = client_->get(all + "/" + name);
  if (volume) {
    const json::value& config = at(*volume, "config");
    if (text_at(config, incus::kTagDeployment) != options_.deployment) return foreign(name);
    if (written_bytes(text_at(config, "size")) >= spec.data_disk_bytes) return {};
    return as_refusal(client_->change(
        {.method = "PATCH", .path = all + "/" + name, .body = json::object{{"config", size}}}));
  }
  if (volume.error().code != ErrorCode::not_found) return fail(std::move(volume).error());
  json::object config = size;
  config[incus::kTagDeployment] = options_.deployment;
  config[incus::kTagInstance] = spec.id.text;
  config[incus::kTagAccount] = spec.account.text;
  return as_refusal(client_->change({.method = "POST",
                                     .path = all,
                                     .body = json::object{{"name", name},
                                                          {"type", "custom"},
                                                          {"content_type", "filesystem"},
                                                          {"config", std::move(config)}}}));
}

// The directory that shows simulated cards inside has to be there before the device names it.
Status IncusEngine::show_sim_cards(const InstanceId& id, const EngineShape& shape) {
  if (std::ranges::none_of(shape.cards, &EngineCard::simulated)) return {};
  return put_sim_cards(sim_cards_dir(options_.state_dir, id), options_.sim_library, shape.cards);
}

Status IncusEngine::create_stopped(const EngineSpec& spec, const GuestIdentity& identity) {
  const std::string path = incus::instance_path(spec.id);
  json::object config = incus::fixed_config(options_, spec);
  const EngineShape shape = spec.first_shape.value_or(kNoShape);
  TRY(show_sim_cards(spec.id, shape));
  overlay(config, incus::shape_config(shape));
  config[incus::kTagGeneration] = "0";
  TRY_ASSIGN(json::object devices, incus::devices(options_, spec, shape));
  TRY(as_refusal(
      client_->change({.method = "POST",
                       .path = "/1.0/instances",
                       .body = json::object{{"name", spec.id.text},
                                            {"type", "container"},
                                            {"start", false},
                                            {"profiles", json::array()},
                                            {"source", {{"type", "image"}, {"alias", spec.image}}},
                                            {"config", std::move(config)},
                                            {"devices", std::move(devices)}},
                       .patience = kCreatePatience})));
  TRY(as_refusal(push_identity(*client_, spec.id, identity_json(spec.id, guest_url(), identity))));
  // Last: whatever lacks this is a husk.
  return as_refusal(
      client_->change({.method = "PATCH",
                       .path = path,
                       .body = json::object{{"config", {{incus::kTagCreated, "1"}}}}}));
}

Status IncusEngine::ensure_created(const EngineSpec& spec, const GuestIdentity& identity) {
  if (spec.idmap_base < options_.idmap_first || spec.idmap_base + kIdmapSize > options_.idmap_end) {
    // Incus accepts it, and fails at the start.
    return fail(ErrorCode::engine_failed,
                text("id map base {} is outside {} to {}", "ID 映射基址 {} 不在 {} 至 {} 之内",
                     spec.idmap_base, options_.idmap_first, options_.idmap_end));
  }
  const Turn turn(*this, spec.id);
  Status made;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    TRY_ASSIGN(const Look now, settle(spec.id, kCreatePatience));
    if (now.kind == Look::Kind::ours) return {};
    if (now.kind == Look::Kind::foreign) return foreign(spec.id.text);
    if (now.kind == Look::Kind::husk) TRY(delete_instance(spec.id));
    TRY(ensure_data_volume(spec));
    made = create_stopped(spec, identity);
    // Somebody else's creation, begun a moment ago: look what comes of it.
    if (!says(made, "UNIQUE constraint failed: instances")) return made;
  }
  return made;
}

Status IncusEngine::configure(const EngineSpec& spec, const EngineShape& shape) {
  TRY(ensure_data_volume(spec));
  const std::string path = incus::instance_path(spec.id);
  Status changed;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    TRY_ASSIGN(IncusDocument document, client_->get_document(path));
    json::object& instance = document.metadata.as_object();
    json::object config = at(document.metadata, "config").as_object();
    overlay(config, incus::fixed_config(options_, spec));
    overlay(config, incus::shape_config(shape));
    TRY_ASSIGN(json::object devices, incus::devices(options_, spec, shape));
    const json::value& before = at(document.metadata, "devices");
    keep_larger_size(devices["root"].as_object(), at(before, "root"));
    if (json::value(config) == at(document.metadata, "config") && json::value(devices) == before) {
      return {};
    }
    config[incus::kTagGeneration] = next_generation(config);
    json::object body = {{"config", std::move(config)},
                         {"devices", std::move(devices)},
                         {"profiles", json::array()}};
    for (const char* kept : {"architecture", "description", "ephemeral", "stateful"}) {
      body[kept] = instance[kept];
    }
    changed = client_->change(
        {.method = "PUT", .path = path, .body = std::move(body), .etag = document.etag});
    if (changed || changed.error().code != ErrorCode::conflict) return as_refusal(changed);
  }
  return as_refusal(changed);
}

Status IncusEngine::change_state(const InstanceId& id, std::string_view action, Duration grace) {
  const bool force = grace.ms == 0;
  const int64_t whole_seconds = std::max<int64_t>((grace.ms + 999) / 1000, 1);
  const Duration patience = action == "start" ? kStartPatience
                            : force           ? kForcePatience
                                              : seconds(whole_seconds) + seconds(15);
  return client_->change({.method = "PUT",
                          .path = incus::instance_path(id) + "/state",
                          .body = json::object{{"action", action},
                                               {"timeout", force ? -1 : whole_seconds},
                                               {"force", force && action != "start"}},
                          .patience = patience});
}

Status IncusEngine::ensure_started(const EngineSpec& spec, const EngineShape& shape) {
  const Turn turn(*this, spec.id);
  TRY_ASSIGN(const Look before, settle(spec.id, kSettlePatience));
  if (before.kind != Look::Kind::ours) {
    return fail(ErrorCode::engine_failed,
                text("{} is not created in Incus", "{} 尚未在 Incus 中创建", spec.id.text));
  }
  if (before.running()) return {};
  TRY(firewall_->keep());
  // With NAT a foreign service would be shadowed silently; without, the start takes 7 s to fail.
  TRY_ASSIGN(bool free, port_is_free(spec.ssh_port));
  for (int attempt = 0; !free && attempt < kAttempts; ++attempt) {
    end_orphaned_proxies(options_.ssh_listen, spec.ssh_port);
    std::this_thread::sleep_for(kPause);
    TRY_ASSIGN(free, port_is_free(spec.ssh_port));
  }
  const auto taken = [&spec] {
    return fail(ErrorCode::no_capacity, text("port {} of the host is taken by another program",
                                             "主机端口 {} 已被其他程序占用", spec.ssh_port));
  };
  if (!free) return taken();
  TRY(show_sim_cards(spec.id, shape));
  Status configured = configure(spec, shape);
  if (is_full(configured)) {
    TRY(grow_full_disk(*client_, spec));
    configured = configure(spec, shape);
  }
  TRY(configured);
  Status started = change_state(spec.id, "start", {});
  if (is_full(started)) {
    TRY(grow_full_disk(*client_, spec));
    started = change_state(spec.id, "start", {});
  }
  TRY_ASSIGN(const Look after, settle(spec.id, kSettlePatience));
  if (after.kind == Look::Kind::ours && after.running()) return {};
  if (says(started, "address already in use")) return taken();
  if (!started) return as_refusal(started);
  return fail(ErrorCode::engine_failed,
              text("{} was started and is stopped again", "{} 启动后又停止了", spec.id.text));
}

Status IncusEngine::shut_down(const InstanceId& id, Duration grace) {
  // Only behind what is under way: force may overtake the shutdown that begins here.
  { const Turn turn(*this, id); }
  TRY_ASSIGN(const Look before, settle(id, kSettlePatience));
  const bool ours = before.kind == Look::Kind::ours || before.kind == Look::Kind::husk;
  if (!ours || !before.running()) return {};
  const Status asked = change_state(id, "stop", std::max(grace, milliseconds(1)));
  TRY_ASSIGN(const Look after, settle(id, kForcePatience));
  if (after.kind == Look::Kind::none || !after.running()) return {};
  if (!asked && asked.error().code == ErrorCode::engine_unavailable) return asked;
  return fail(ErrorCode::engine_failed, text("{} still runs after {} s of shutting down",
                                             "{} 关机 {} 秒后仍在运行", id.text, grace.ms / 1000));
}

Status IncusEngine::force_stop(const InstanceId& id) {
  { const Turn turn(*this, id); }
  Status asked;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    TRY_ASSIGN(Look now, look(id));
    // Force may overtake a shutdown; a start or a creation must come to its end first,
    // because a stop sent meanwhile is "already stopped" and the instance ends running.
    if (now.busy() && !now.stopping()) {
      TRY_ASSIGN(now, settle(id, kSettlePatience));
    }
    const bool ours = now.kind == Look::Kind::ours || now.kind == Look::Kind::husk;
    if (!ours || now.status == EngineStatus::stopped) return {};
    asked = change_state(id, "stop", {});
    TRY_ASSIGN(const Look after, settle(id, kForcePatience));
    if (after.kind == Look::Kind::none || !after.running()) return {};
  }
  if (!asked) return as_refusal(asked);
  return fail(ErrorCode::engine_failed,
              text("{} runs again after every stop", "{} 每次停止后又在运行", id.text));
}

Status IncusEngine::remove_data_volume(const InstanceId& id) {
  const std::string path = fmt::format("/1.0/storage-pools/{}/volumes/custom/{}", options_.pool,
                                       incus::data_volume_name(id));
  const auto volume = client_->get(path);
  if (!volume && volume.error().code == ErrorCode::not_found) return {};
  if (!volume) return fail(volume.error());
  const json::value& config = at(*volume, "config");
  const bool ours = text_at(config, incus::kTagDeployment) == options_.deployment &&
                    text_at(config, incus::kTagInstance) == id.text;
  if (!ours) return {};
  return unless_gone(
      client_->change({.method = "DELETE", .path = path, .patience = kDeletePatience}));
}

Status IncusEngine::ensure_removed(const InstanceId& id) {
  const Turn turn(*this, id);
  TRY_ASSIGN(const Look now, settle(id, kSettlePatience));
  const bool ours = now.kind == Look::Kind::ours || now.kind == Look::Kind::husk;
  if (ours && now.status != EngineStatus::stopped) {
    return fail(ErrorCode::engine_failed,
                text("{} still runs and is not removed", "{} 仍在运行，不能删除", id.text));
  }
  if (ours) TRY(delete_instance(id));
  TRY(remove_data_volume(id));
  return remove_sim_cards(sim_cards_dir(options_.state_dir, id));
}

}  // namespace cardhour
