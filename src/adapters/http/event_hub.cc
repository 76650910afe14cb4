#include "adapters/http/event_hub.h"

#include <utility>

namespace cardhour::http {

// The lock is held while subscribers run, so that none runs after its end(). Subscribers
// only post to an executor: they take no lock of ours and call nothing back.
struct EventHub::Subscription::Shared {
  std::mutex mutex;
  uint64_t next_key = 1;
  std::map<uint64_t, Subscriber> subscribers;
};

EventHub::Subscription::Subscription(Subscription&& other) noexcept
    : shared_(std::move(other.shared_)), key_(std::exchange(other.key_, 0)) {}

EventHub::Subscription& EventHub::Subscription::operator=(Subscription&& other) noexcept {
  if (this != &other) {
    end();
    shared_ = std::move(other.shared_);
    key_ = std::exchange(other.key_, 0);
  }
  return *this;
}

EventHub::Subscription::~Subscription() { end(); }

void EventHub::Subscription::end() {
  if (const auto shared = shared_.lock(); shared && key_ != 0) {
    const std::lock_guard lock(shared->mutex);
    shared->subscribers.erase(key_);
  }
  key_ = 0;
}

EventHub::EventHub() : shared_(std::make_shared<Subscription::Shared>()) {}

void EventHub::notify() { notify(std::string()); }

void EventHub::notify(const std::string& topic) {
  const std::lock_guard lock(shared_->mutex);
  for (const auto& [key, subscriber] : shared_->subscribers) subscriber(topic);
}

EventHub::Subscription EventHub::subscribe(Subscriber subscriber) {
  const std::lock_guard lock(shared_->mutex);
  Subscription subscription;
  subscription.shared_ = shared_;
  subscription.key_ = shared_->next_key++;
  shared_->subscribers.emplace(subscription.key_, std::move(subscriber));
  return subscription;
}

}  // namespace cardhour::http
