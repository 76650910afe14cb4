// HangingEngine: an engine that can be told to hang: from then on every call waits for half a
// minute, as a client of a daemon that takes requests and never answers, and fails.
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "ports/engine.h"

namespace cardhour::bench {

class HangingEngine final : public Engine {
 public:
  explicit HangingEngine(Engine& inner) : inner_(inner) {}

  void hang() {
    const std::lock_guard lock(mutex_);
    hangs_ = true;
  }
  // Lets go of everybody who waits; nothing waits from then on.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  Result<std::vector<EngineHost>> hosts() override {
    TRY(answers());
    return inner_.hosts();
  }
  Result<std::vector<EngineInstance>> list() override {
    TRY(answers());
    return inner_.list();
  }
  Result<std::vector<EngineUsage>> usage() override {
    TRY(answers());
    return inner_.usage();
  }
  Result<std::optional<EngineInstance>> find(const InstanceId& id) override {
    TRY(answers());
    return inner_.find(id);
  }
  Result<std::optional<EngineObject>> describe(const InstanceId& id) override {
    TRY(answers());
    return inner_.describe(id);
  }
  Result<std::vector<std::string>> images() override {
    TRY(answers());
    return inner_.images();
  }
  Status ensure_created(const EngineSpec& spec, const GuestIdentity& identity) override {
    TRY(answers());
    return inner_.ensure_created(spec, identity);
  }
  Status ensure_started(const EngineSpec& spec, const EngineShape& shape) override {
    TRY(answers());
    return inner_.ensure_started(spec, shape);
  }
  Result<bool> ssh_answers(const EngineSpec& spec, Duration patience) override {
    TRY(answers());
    return inner_.ssh_answers(spec, patience);
  }
  Result<std::vector<VisibleCard>> visible_cards(const InstanceId& id) override {
    TRY(answers());
    return inner_.visible_cards(id);
  }
  Status apply_identity(const InstanceId& id, const GuestIdentity& identity) override {
    TRY(answers());
    return inner_.apply_identity(id, identity);
  }
  Status put_notice(const InstanceId& id, const std::string& json) override {
    TRY(answers());
    return inner_.put_notice(id, json);
  }
  Status shut_down(const InstanceId& id, Duration grace) override {
    TRY(answers());
    return inner_.shut_down(id, grace);
  }
  Status force_stop(const InstanceId& id) override {
    TRY(answers());
    return inner_.force_stop(id);
  }
  Status ensure_removed(const InstanceId& id) override {
    TRY(answers());
    return inner_.ensure_removed(id);
  }
  // Of the host, not of the daemon.
  Result<bool> port_is_free(int port) override { return inner_.port_is_free(port); }

 private:
  Status answers() {
    std::unique_lock lock(mutex_);
    if (!hangs_) return {};
    changed_.wait_for(lock, std::chrono::seconds(30), [this] { return ended_; });
    return fail(ErrorCode::engine_unavailable, Text{"the engine hangs", "引擎无响应"});
  }

  Engine& inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hangs_ = false;
  bool ended_ = false;
};

}  // namespace cardhour::bench
