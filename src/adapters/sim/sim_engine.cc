#include "adapters/sim/sim_engine.h"

#include <algorithm>
#include <utility>

namespace cardhour {
namespace {

// What an unpacked image takes in the pool; quotas are not counted there, as in Incus.
constexpr int64_t kInstanceBytes = 410 * kMiB;

tl::unexpected<Error> refused(Text what) { return fail(ErrorCode::engine_failed, std::move(what)); }

tl::unexpected<Error> no_such_instance() {
  return refused(Text{"the engine has no such instance", "引擎中没有该实例"});
}

}  // namespace

SimEngine::SimEngine(Clock& clock, std::vector<SimHost> hosts, SimEngineOptions options)
    : clock_(clock), options_(std::move(options)), hosts_(std::move(hosts)) {}

Status SimEngine::reachable() const {
  if (!is_silent_) return {};
  return fail(ErrorCode::engine_unavailable,
              Text{"the simulated engine is silent", "模拟引擎没有响应"});
}

void SimEngine::settle(Object& object) {
  const Timestamp now = clock_.now();
  if (object.start_ends_at && now >= *object.start_ends_at) {
    object.start_ends_at.reset();
    object.is_on = true;
  }
  if (object.stop_ends_at && now >= *object.stop_ends_at) object.stop_ends_at.reset();
}

SimEngine::Object* SimEngine::find_finished(const InstanceId& id) {
  const auto found = objects_.find(id);
  if (found == objects_.end() || !found->second.is_finished) return nullptr;
  settle(found->second);
  return &found->second;
}

Result<SimEngine::Object*> SimEngine::find_running(const InstanceId& id) {
  Object* object = find_finished(id);
  if (object == nullptr) return no_such_instance();
  if (!object->is_on) return refused(Text{"the instance is not running", "实例未在运行"});
  return object;
}

EngineInstance SimEngine::seen(const Object& object) const {
  const bool changing = object.start_ends_at || object.stop_ends_at;
  const EngineStatus status = changing       ? EngineStatus::busy
                              : object.is_on ? EngineStatus::running
                                             : EngineStatus::stopped;
  return EngineInstance{object.spec.id, status, object.run};
}

const ProbedCard* SimEngine::card(const CardId& id) const {
  for (const SimHost& host : hosts_) {
    const auto found = std::ranges::find(host.cards, id, &ProbedCard::uuid);
    if (found != host.cards.end()) return &*found;
  }
  return nullptr;
}

ProbedCard* SimEngine::card(const CardId& id) {
  return const_cast<ProbedCard*>(std::as_const(*this).card(id));
}

bool SimEngine::port_in_use(int port, const InstanceId& except) {
  if (taken_ports_.contains(port)) return true;
  return std::ranges::any_of(objects_, [&](auto& entry) {
    Object& other = entry.second;
    settle(other);
    return entry.first != except && other.spec.ssh_port == port &&
           (other.is_on || other.start_ends_at);
  });
}

void SimEngine::switch_off(Object& object, Duration takes) {
  object.is_on = false;
  object.notice.clear();  // /run is gone with the run
  if (takes.ms > 0) object.stop_ends_at = clock_.now() + takes;
}

void SimEngine::midway(std::string_view call) {
  if (options_.midway) options_.midway(call);
}

Result<std::vector<EngineHost>> SimEngine::hosts() {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  std::vector<EngineHost> result;
  for (const SimHost& host : hosts_) {
    EngineHost seen_host{.name = host.name,
                         .version = "6.0.4",
                         .cpu_total = host.cpu_total,
                         .memory_bytes = host.memory_bytes,
                         .pool_total_bytes = host.pool_total_bytes};
    for (const ProbedCard& card : host.cards) seen_host.gpu_pci.push_back(card.pci_address);
    result.push_back(std::move(seen_host));
  }
  if (!result.empty()) {
    result[0].pool_used_bytes = static_cast<int64_t>(objects_.size()) * kInstanceBytes;
  }
  return result;
}

Result<std::vector<EngineInstance>> SimEngine::list() {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  std::vector<EngineInstance> result;
  for (auto& [id, object] : objects_) {
    settle(object);
    if (object.is_finished) result.push_back(seen(object));
  }
  return result;
}

// Adds up what it used since it was last looked at.
void SimEngine::use(Object& object) {
  const Timestamp now = clock_.now();
  const int64_t ms = (now - object.used_at).ms;
  const SimActivity& does = object.activity;
  EngineUsage& used = object.used;
  const auto grow = [&](std::optional<int64_t>& counter, const std::optional<int64_t>& rate) {
    if (!rate) counter.reset();
    if (rate) counter = counter.value_or(0) + *rate * ms / 1000;
  };
  grow(used.cpu_ms, does.millicores);
  grow(used.disk_read_bytes, does.disk_bytes_per_second);
  grow(used.disk_written_bytes, does.disk_bytes_per_second);
  grow(used.network_received_bytes, does.network_bytes_per_second);
  grow(used.network_sent_bytes, does.network_bytes_per_second);
  used.memory_used_bytes = does.memory_used_bytes;
  used.sessions = does.sessions;
  used.processes = 20;
  object.used_at = now;
}

Result<std::vector<EngineUsage>> SimEngine::usage() {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  std::vector<EngineUsage> result;
  for (auto& [id, object] : objects_) {
    settle(object);
    if (!object.is_finished || seen(object).status != EngineStatus::running) continue;
    use(object);
    object.used.id = id;
    result.push_back(object.used);
  }
  return result;
}

void SimEngine::set_activity(const InstanceId& id, const SimActivity& activity) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(id);
  if (found == objects_.end()) return;
  use(found->second);
  found->second.activity = activity;
}

Result<std::optional<EngineInstance>> SimEngine::find(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  const Object* object = find_finished(id);
  if (object == nullptr) return std::nullopt;
  return seen(*object);
}

Result<std::optional<EngineObject>> SimEngine::describe(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  const Object* object = find_finished(id);
  if (object == nullptr) return std::nullopt;
  EngineObject described;
  described.seen = seen(*object);
  described.spec = object->spec;
  described.spec.first_shape.reset();
  described.millicores = object->shape.millicores;
  described.memory_bytes = object->shape.memory_bytes;
  for (const EngineCard& given : object->shape.cards) described.cards.push_back(given.uuid);
  described.generation = object->generation;
  return described;
}

Result<std::vector<std::string>> SimEngine::images() {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  return options_.images;
}

Status SimEngine::ensure_created(const EngineSpec& spec, const GuestIdentity& identity) {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  if (foreign_.contains(spec.id.text)) {
    return refused(Text{"an instance of somebody else has this name", "该名称已被他人的实例占用"});
  }
  if (find_finished(spec.id) != nullptr) return {};
  objects_.erase(spec.id);  // a husk
  if (std::ranges::find(options_.images, spec.image) == options_.images.end()) {
    return refused(text("the engine has no image \"{}\"", "引擎中没有镜像“{}”", spec.image));
  }
  Object& object = objects_[spec.id];
  object.spec = spec;
  object.identity = identity;
  midway("ensure_created");
  if (spec.data_disk_bytes > 0) data_disks_.insert(spec.id);
  object.is_finished = true;
  return {};
}

Status SimEngine::check_startable(const EngineSpec& spec, const EngineShape& shape) {
  for (const EngineCard& wanted : shape.cards) {
    const ProbedCard* found = card(wanted.uuid);
    if (found == nullptr || found->pci_address != wanted.pci_address) {
      return refused(text("Failed to detect requested GPU device {}", "找不到所需的 GPU 设备 {}",
                          wanted.pci_address));
    }
  }
  for (auto& [id, other] : objects_) {
    settle(other);
    const bool is_up = other.is_on || other.start_ends_at;
    if (id != spec.id && is_up && !spec.ipv4.empty() && other.spec.ipv4 == spec.ipv4) {
      return refused(text("the address {} is in use", "地址 {} 已被占用", spec.ipv4));
    }
  }
  if (port_in_use(spec.ssh_port, spec.id)) {
    return fail(ErrorCode::no_capacity,
                text("the port {} is taken", "端口 {} 已被占用", spec.ssh_port));
  }
  return {};
}

Status SimEngine::ensure_started(const EngineSpec& spec, const EngineShape& shape) {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  Object* object = find_finished(spec.id);
  if (object == nullptr) return no_such_instance();
  if (object->is_on || object->start_ends_at) return {};
  if (object->stop_ends_at) {
    return refused(Text{"the instance is already running", "实例仍在运行"});  // it is stopping
  }
  TRY(check_startable(spec, shape));
  object->spec = spec;
  object->shape = shape;
  ++object->generation;
  midway("ensure_started");
  const Timestamp now = clock_.now();
  object->run = "run-" + std::to_string(++runs_);
  object->activity = {};
  object->used = {};
  object->used_at = now;
  object->start_ends_at = now + options_.start_time;
  object->banner_at = now + std::max(options_.start_time, options_.boot_time);
  object->guest_is_dead = false;
  settle(*object);
  return {};
}

bool SimEngine::banner_is_there(const InstanceId& id) {
  const Object* object = find_finished(id);
  return object != nullptr && object->is_on && !object->guest_is_dead &&
         clock_.now() >= object->banner_at;
}

Result<bool> SimEngine::ssh_answers(const EngineSpec& spec, Duration patience) {
  Duration wait = patience;
  {
    const std::lock_guard lock(mutex_);
    TRY(reachable());
    if (banner_is_there(spec.id)) return true;
    const Object* object = find_finished(spec.id);
    const bool is_coming =
        object != nullptr && !object->guest_is_dead && (object->is_on || object->start_ends_at);
    if (is_coming) wait = std::min(patience, object->banner_at - clock_.now());
  }
  if (!options_.wait) return false;
  options_.wait(wait);
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  return banner_is_there(spec.id);
}

void SimEngine::add_extra_card(const Object& object, std::vector<VisibleCard>& cards) const {
  for (const SimHost& host : hosts_) {
    for (const ProbedCard& other : host.cards) {
      const auto& own = object.shape.cards;
      if (std::ranges::find(own, other.uuid, &EngineCard::uuid) != own.end()) continue;
      cards.push_back({other.uuid, other.memory_used_bytes});
      return;
    }
  }
}

Result<std::vector<VisibleCard>> SimEngine::visible_cards(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  TRY_ASSIGN(const Object* object, find_running(id));
  std::vector<VisibleCard> cards;
  for (const EngineCard& given : object->shape.cards) {
    const ProbedCard* found = card(given.uuid);
    if (found != nullptr) cards.push_back({found->uuid, found->memory_used_bytes});
  }
  if (object->view == CardSight::one_missing && !cards.empty()) cards.pop_back();
  if (object->view == CardSight::one_extra) add_extra_card(*object, cards);
  return cards;
}

Status SimEngine::apply_identity(const InstanceId& id, const GuestIdentity& identity) {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  TRY_ASSIGN(Object * object, find_running(id));
  object->identity = identity;
  return {};
}

Status SimEngine::put_notice(const InstanceId& id, const std::string& json) {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  TRY_ASSIGN(Object * object, find_running(id));
  object->notice = json;
  return {};
}

Status SimEngine::shut_down(const InstanceId& id, Duration /*grace*/) {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  Object* object = find_finished(id);
  // "Already stopped" is also what is said while a start is in flight, which then wins.
  if (object == nullptr || !object->is_on) return {};
  if (object->guest_is_dead || object->shutdown_hangs) {
    return refused(
        Text{"Failed shutting down instance: context deadline exceeded", "实例未能在期限内关机"});
  }
  switch_off(*object, options_.stop_time);
  return {};
}

Status SimEngine::force_stop(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  Object* object = find_finished(id);
  if (object == nullptr || !object->is_on) return {};
  switch_off(*object, options_.stop_time);
  return {};
}

Status SimEngine::ensure_removed(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  const Object* object = find_finished(id);
  if (object != nullptr && (object->is_on || object->start_ends_at || object->stop_ends_at)) {
    return refused(Text{"Instance is running", "实例正在运行"});
  }
  objects_.erase(id);
  midway("ensure_removed");
  data_disks_.erase(id);
  return {};
}

Result<bool> SimEngine::port_is_free(int port) {
  const std::lock_guard lock(mutex_);
  TRY(reachable());
  return !port_in_use(port, InstanceId{});
}

bool SimEngine::stop_behind_our_back(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  Object* object = find_finished(id);
  if (object == nullptr || !object->is_on) return false;
  switch_off(*object, Duration{});
  return true;
}

bool SimEngine::delete_behind_our_back(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  data_disks_.erase(id);
  return objects_.erase(id) > 0;
}

bool SimEngine::poweroff_inside(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  Object* object = find_finished(id);
  if (object == nullptr || !object->is_on || object->guest_is_dead) return false;
  switch_off(*object, Duration{});
  return true;
}

void SimEngine::add_foreign(const std::string& name) {
  const std::lock_guard lock(mutex_);
  foreign_.insert(name);
}

void SimEngine::add_unknown(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  Object& object = objects_[id];
  object.spec.id = id;
  object.is_finished = true;
  object.is_on = true;
  object.run = "run-" + std::to_string(++runs_);
}

void SimEngine::take_port(int port) {
  const std::lock_guard lock(mutex_);
  taken_ports_.insert(port);
}

void SimEngine::reboot_host() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, object] : objects_) {
    object.start_ends_at.reset();
    object.stop_ends_at.reset();
    switch_off(object, Duration{});
  }
}

void SimEngine::swap_pci_addresses() {
  const std::lock_guard lock(mutex_);
  for (SimHost& host : hosts_) {
    if (host.cards.empty()) continue;
    std::string carried = host.cards.back().pci_address;
    for (ProbedCard& card : host.cards) std::swap(card.pci_address, carried);
  }
}

void SimEngine::set_silent(bool silent) {
  const std::lock_guard lock(mutex_);
  is_silent_ = silent;
}

void SimEngine::kill_guest(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  if (Object* object = find_finished(id)) object->guest_is_dead = true;
}

void SimEngine::set_shutdown_hangs(const InstanceId& id, bool hangs) {
  const std::lock_guard lock(mutex_);
  if (Object* object = find_finished(id)) object->shutdown_hangs = hangs;
}

void SimEngine::set_card_sight(const InstanceId& id, CardSight view) {
  const std::lock_guard lock(mutex_);
  if (Object* object = find_finished(id)) object->view = view;
}

void SimEngine::set_boot_time(Duration boot_time) {
  const std::lock_guard lock(mutex_);
  options_.boot_time = boot_time;
}

std::vector<ProbedCard> SimEngine::cards() const {
  const std::lock_guard lock(mutex_);
  std::vector<ProbedCard> result;
  for (const SimHost& host : hosts_) {
    result.insert(result.end(), host.cards.begin(), host.cards.end());
  }
  return result;
}

void SimEngine::set_memory_used(const CardId& id, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (ProbedCard* found = card(id)) found->memory_used_bytes = bytes;
}

void SimEngine::set_card_fault(const CardId& id, const std::string& fault) {
  const std::lock_guard lock(mutex_);
  if (ProbedCard* found = card(id)) found->fault = fault;
}

void SimEngine::remove_card(const CardId& id) {
  const std::lock_guard lock(mutex_);
  for (SimHost& host : hosts_) {
    std::erase_if(host.cards, [&](const ProbedCard& card) { return card.uuid == id; });
  }
}

std::vector<SimRun> SimEngine::running() {
  const std::lock_guard lock(mutex_);
  std::vector<SimRun> result;
  for (auto& [id, object] : objects_) {
    settle(object);
    if (!object.is_on && !object.start_ends_at) continue;
    result.push_back({id, object.run, object.spec, object.shape, object.notice});
  }
  return result;
}

std::vector<std::string> SimEngine::leftovers() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> result;
  for (const auto& [id, object] : objects_) {
    if (!object.is_finished) result.push_back("husk " + id.text);
  }
  for (const InstanceId& id : data_disks_) {
    if (!objects_.contains(id)) result.push_back("data disk " + id.text);
  }
  return result;
}

bool SimEngine::exists(const InstanceId& id) const {
  const std::lock_guard lock(mutex_);
  return objects_.contains(id);
}

std::vector<std::string> SimEngine::foreign() {
  const std::lock_guard lock(mutex_);
  return {foreign_.begin(), foreign_.end()};
}

std::vector<std::string> SimEngine::authorized_keys(const InstanceId& id) {
  const std::lock_guard lock(mutex_);
  const Object* object = find_finished(id);
  return object == nullptr ? std::vector<std::string>{} : object->identity.authorized_keys;
}

}  // namespace cardhour
