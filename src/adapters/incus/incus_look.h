// What the daemon says about one instance at one moment, with the operation that is at work
// on it. Private to IncusEngine.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/incus/incus_engine.h"

namespace cardhour {

struct IncusEngine::Look {
  enum class Kind { none, foreign, husk, ours };
  Kind kind = Kind::none;
  EngineStatus status = EngineStatus::stopped;  // busy while an operation is in flight
  std::string run;
  std::string operation;    // id of what is in flight; empty: nothing
  std::string description;  // e.g. "Starting instance"

  bool running() const { return status == EngineStatus::running; }
  bool busy() const { return status == EngineStatus::busy; }
  bool stopping() const { return description == "Stopping instance"; }
};

// Holds an instance while it is created, started or removed in several steps.
class IncusEngine::Turn {
 public:
  Turn(IncusEngine& engine, const InstanceId& id) : engine_(engine), id_(id) {
    std::unique_lock lock(engine_.mutex_);
    engine_.turn_over_.wait(lock, [&] { return !engine_.in_turn_.contains(id_); });
    engine_.in_turn_.insert(id_);
  }
  ~Turn() {
    std::lock_guard lock(engine_.mutex_);
    engine_.in_turn_.erase(id_);
    engine_.turn_over_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  IncusEngine& engine_;
  const InstanceId id_;
};

namespace incus {

inline constexpr std::string_view kTagDeployment = "user.cardhour.deployment";
inline constexpr std::string_view kTagInstance = "user.cardhour.instance";
inline constexpr std::string_view kTagAccount = "user.cardhour.account";
inline constexpr std::string_view kTagGeneration = "user.cardhour.generation";
inline constexpr std::string_view kTagCards = "user.cardhour.cards";
inline constexpr std::string_view kTagImage = "user.cardhour.image";
inline constexpr std::string_view kTagCreated = "user.cardhour.created";

// Text and objects inside an answer; empty when they are not there.
std::string text_at(const boost::json::value& value, std::string_view key);
const boost::json::value& at(const boost::json::value& value, std::string_view key);
int64_t number_at(const boost::json::value& value, std::string_view key);

std::string instance_path(const InstanceId& id);

}  // namespace incus
}  // namespace cardhour
