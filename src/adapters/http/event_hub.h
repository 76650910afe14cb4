// EventHub: "something changed, look again". Whoever commits a change notifies; the HTTP
// server wakes the streams and waiting answers of that topic. A notification carries no
// data and may be lost or doubled without harm: everyone who is woken reads the store,
// and looks once a second anyway.
// Thread-safe. Subscribers are called on the notifying thread and must return at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace cardhour::http {

class EventHub {
 public:
  // The topic that changed; empty means anything may have.
  using Subscriber = std::function<void(const std::string& topic)>;

  // Ends the subscription when destroyed; from then on the subscriber is not called.
  // May outlive the hub.
  class Subscription {
   public:
    Subscription() = default;
    Subscription(Subscription&& other) noexcept;
    Subscription& operator=(Subscription&& other) noexcept;
    ~Subscription();

   private:
    friend class EventHub;
    struct Shared;
    void end();

    std::weak_ptr<Shared> shared_;
    uint64_t key_ = 0;
  };

  EventHub();

  // Wakes everyone.
  void notify();
  // Wakes those of this topic, and those who listen to every topic.
  void notify(const std::string& topic);
  Subscription subscribe(Subscriber subscriber);

 private:
  std::shared_ptr<Subscription::Shared> shared_;
};

}  // namespace cardhour::http
