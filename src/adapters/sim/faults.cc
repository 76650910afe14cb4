#include "adapters/sim/faults.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/enum_text.h"

namespace cardhour {
namespace {

constexpr int kPerMille = 1000;

constexpr std::initializer_list<Fault> kOfEngine = {
    Fault::unavailable, Fault::failed, Fault::lost_request, Fault::lost_answer,
    Fault::slow,        Fault::hung,   Fault::crash_before, Fault::crash_after};
constexpr std::initializer_list<Fault> kOfRead = {Fault::unavailable, Fault::crash_before,
                                                  Fault::crash_inside, Fault::crash_after};
constexpr std::initializer_list<Fault> kOfWrite = {Fault::unavailable, Fault::lost_answer,
                                                   Fault::crash_before, Fault::crash_inside,
                                                   Fault::crash_after};

std::string name_of(std::string_view call, Fault fault) {
  return std::string(call) + " " + std::string(enum_text(fault));
}

[[noreturn]] void crash(std::string_view call, Fault fault) { throw Crash{name_of(call, fault)}; }

tl::unexpected<Error> engine_error(std::string_view call, Fault fault) {
  const std::string where(call);
  if (fault == Fault::failed) {
    return fail(ErrorCode::engine_failed, text("the engine refused {}", "引擎拒绝执行 {}", where));
  }
  if (fault == Fault::unavailable) {
    return fail(ErrorCode::engine_unavailable,
                text("the engine does not answer ({})", "引擎没有响应（{}）", where));
  }
  return fail(ErrorCode::engine_unavailable,
              text("no answer in time to {}", "{} 未在期限内得到响应", where));
}

template <class Effect>
auto engine_call(FaultPlan& plan, std::string_view call, const Effect& effect)
    -> decltype(effect()) {
  const auto fault = plan.draw(call, kOfEngine);
  if (!fault) return effect();
  if (*fault == Fault::crash_before) crash(call, *fault);
  if (*fault == Fault::slow) {
    plan.wait(kSlowCall);
    return effect();
  }
  const bool is_done =
      *fault == Fault::lost_answer || *fault == Fault::hung || *fault == Fault::crash_after;
  if (is_done) static_cast<void>(effect());
  if (*fault == Fault::hung) plan.wait(kHungCall);
  if (*fault == Fault::crash_after) crash(call, *fault);
  return engine_error(call, *fault);
}

template <class Transaction>
Status store_call(FaultPlan& plan, std::string_view call, std::initializer_list<Fault> possible,
                  const std::function<Status(Tx&)>& body, const Transaction& transaction) {
  const auto fault = plan.draw(call, possible);
  if (!fault) return transaction(body);
  if (*fault == Fault::crash_before) crash(call, *fault);
  if (*fault == Fault::unavailable) {
    return fail(ErrorCode::store_unavailable, Text{"the database is locked", "数据库被锁定"});
  }
  const auto struck = [&](Tx& tx) -> Status {
    TRY(body(tx));
    if (*fault == Fault::crash_inside) crash(call, *fault);
    return {};
  };
  const Status status = transaction(struck);
  if (*fault == Fault::crash_after) crash(call, *fault);
  if (*fault == Fault::lost_answer && status) {
    return fail(ErrorCode::store_unavailable, Text{"no word of the commit", "未收到提交结果"});
  }
  return status;
}

}  // namespace

void FaultPlan::set(Fault fault, int per_mille) {
  CHECK(per_mille >= 0 && per_mille <= kPerMille, "a probability in per mille");
  const std::lock_guard lock(mutex_);
  per_mille_.at(static_cast<size_t>(fault)) = per_mille;
}

void FaultPlan::set_active(bool active) {
  const std::lock_guard lock(mutex_);
  is_active_ = active;
}

void FaultPlan::set_paused(bool paused) {
  const std::lock_guard lock(mutex_);
  is_paused_ = paused;
}

void FaultPlan::set_wait(std::function<void(Duration)> wait) {
  const std::lock_guard lock(mutex_);
  wait_ = std::move(wait);
}

void FaultPlan::set_listener(Listener listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

void FaultPlan::mark() {
  const std::lock_guard lock(mutex_);
  since_mark_.clear();
}

// Not under the mutex: what goes on meanwhile makes calls too.
void FaultPlan::wait(Duration by) {
  std::function<void(Duration)> wait;
  {
    const std::lock_guard lock(mutex_);
    wait = wait_;
  }
  if (wait) wait(by);
}

void FaultPlan::force(Fault fault, std::string call, int nth) {
  CHECK(nth >= 1, "calls are counted from 1");
  const std::lock_guard lock(mutex_);
  forced_.push_back({fault, std::move(call), nth});
}

std::optional<Fault> FaultPlan::due_by_force(std::string_view call,
                                             std::initializer_list<Fault> possible) {
  std::optional<Fault> due;
  for (Forced& forced : forced_) {
    const bool is_meant = forced.call.empty() || forced.call == call;
    const bool can_strike = std::ranges::find(possible, forced.fault) != possible.end();
    if (!is_meant || !can_strike || forced.calls_left == 0) continue;
    if (--forced.calls_left > 0) continue;
    if (due) {
      forced.calls_left = 1;  // one fault a call; this one takes the next
    } else {
      due = forced.fault;
    }
  }
  std::erase_if(forced_, [](const Forced& forced) { return forced.calls_left == 0; });
  return due;
}

std::optional<Fault> FaultPlan::due_by_chance(std::initializer_list<Fault> possible) {
  if (!is_active_) return std::nullopt;
  auto drawn = static_cast<int>(random_.below(kPerMille));
  for (Fault fault : possible) {
    drawn -= per_mille_.at(static_cast<size_t>(fault));
    if (drawn < 0) return fault;
  }
  return std::nullopt;
}

std::optional<Fault> FaultPlan::draw(std::string_view call, std::initializer_list<Fault> possible) {
  const std::lock_guard lock(mutex_);
  if (is_paused_) return std::nullopt;
  const std::string name(call);
  ++calls_[name];
  const int nth = ++since_mark_[name];
  std::optional<Fault> fault = due_by_force(call, possible);
  if (!fault) {
    fault = due_by_chance(possible);
    if (fault && listener_) listener_(*fault, name, nth);
  }
  if (fault) ++hits_[name_of(call, *fault)];
  return fault;
}

std::function<void(std::string_view)> FaultPlan::midway() {
  return [this](std::string_view call) {
    const std::string name = "midway." + std::string(call);
    if (const auto fault = draw(name, {Fault::crash_inside})) crash(name, *fault);
  };
}

std::map<std::string, int> FaultPlan::hits() const {
  const std::lock_guard lock(mutex_);
  return hits_;
}

int FaultPlan::hits(Fault fault) const {
  const std::lock_guard lock(mutex_);
  int count = 0;
  const std::string ending = name_of("", fault);
  for (const auto& [name, times] : hits_) {
    if (name.ends_with(ending)) count += times;
  }
  return count;
}

std::vector<std::string> FaultPlan::possible_hits() {
  std::vector<std::string> names;
  const auto add = [&](std::string_view call, std::initializer_list<Fault> possible) {
    for (const Fault fault : possible) names.push_back(name_of(call, fault));
  };
  for (const char* call : {"hosts", "list", "find", "images", "ensure_created", "ensure_started",
                           "ssh_answers", "visible_cards", "apply_identity", "put_notice",
                           "shut_down", "force_stop", "ensure_removed", "port_is_free"}) {
    add("engine." + std::string(call), kOfEngine);
  }
  for (const char* call : {"ensure_created", "ensure_started", "ensure_removed"}) {
    add("midway." + std::string(call), {Fault::crash_inside});
  }
  add("store.read", kOfRead);
  add("store.write", kOfWrite);
  return names;
}

int64_t FaultPlan::calls(const std::string& call) const {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(call);
  return found == calls_.end() ? 0 : found->second;
}

Result<std::vector<EngineHost>> FaultyEngine::hosts() {
  return engine_call(plan_, "engine.hosts", [&] { return inner_.hosts(); });
}
Result<std::vector<EngineInstance>> FaultyEngine::list() {
  return engine_call(plan_, "engine.list", [&] { return inner_.list(); });
}
Result<std::vector<EngineUsage>> FaultyEngine::usage() {
  return engine_call(plan_, "engine.usage", [&] { return inner_.usage(); });
}
Result<std::optional<EngineInstance>> FaultyEngine::find(const InstanceId& id) {
  return engine_call(plan_, "engine.find", [&] { return inner_.find(id); });
}
Result<std::optional<EngineObject>> FaultyEngine::describe(const InstanceId& id) {
  return engine_call(plan_, "engine.describe", [&] { return inner_.describe(id); });
}
Result<std::vector<std::string>> FaultyEngine::images() {
  return engine_call(plan_, "engine.images", [&] { return inner_.images(); });
}
Status FaultyEngine::ensure_created(const EngineSpec& spec, const GuestIdentity& identity) {
  return engine_call(plan_, "engine.ensure_created",
                     [&] { return inner_.ensure_created(spec, identity); });
}
Status FaultyEngine::ensure_started(const EngineSpec& spec, const EngineShape& shape) {
  return engine_call(plan_, "engine.ensure_started",
                     [&] { return inner_.ensure_started(spec, shape); });
}
Result<bool> FaultyEngine::ssh_answers(const EngineSpec& spec, Duration patience) {
  return engine_call(plan_, "engine.ssh_answers",
                     [&] { return inner_.ssh_answers(spec, patience); });
}
Result<std::vector<VisibleCard>> FaultyEngine::visible_cards(const InstanceId& id) {
  return engine_call(plan_, "engine.visible_cards", [&] { return inner_.visible_cards(id); });
}
Status FaultyEngine::apply_identity(const InstanceId& id, const GuestIdentity& identity) {
  return engine_call(plan_, "engine.apply_identity",
                     [&] { return inner_.apply_identity(id, identity); });
}
Status FaultyEngine::put_notice(const InstanceId& id, const std::string& json) {
  return engine_call(plan_, "engine.put_notice", [&] { return inner_.put_notice(id, json); });
}
Status FaultyEngine::shut_down(const InstanceId& id, Duration grace) {
  return engine_call(plan_, "engine.shut_down", [&] { return inner_.shut_down(id, grace); });
}
Status FaultyEngine::force_stop(const InstanceId& id) {
  return engine_call(plan_, "engine.force_stop", [&] { return inner_.force_stop(id); });
}
Status FaultyEngine::ensure_removed(const InstanceId& id) {
  return engine_call(plan_, "engine.ensure_removed", [&] { return inner_.ensure_removed(id); });
}
Result<bool> FaultyEngine::port_is_free(int port) {
  return engine_call(plan_, "engine.port_is_free", [&] { return inner_.port_is_free(port); });
}

Status FaultyStore::write(const std::function<Status(Tx&)>& body) {
  return store_call(plan_, "store.write", kOfWrite, body,
                    [&](const auto& run) { return inner_.write(run); });
}
Status FaultyStore::read(const std::function<Status(Tx&)>& body) {
  return store_call(plan_, "store.read", kOfRead, body,
                    [&](const auto& run) { return inner_.read(run); });
}

}  // namespace cardhour
