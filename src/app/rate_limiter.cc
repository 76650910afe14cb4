#include "app/rate_limiter.h"

namespace cardhour {

bool RateLimiter::allows(const std::string& key, Timestamp now) {
  const std::scoped_lock lock(mutex_);
  const auto found = windows_.find(key);
  if (found == windows_.end()) return true;
  if (now - found->second.began >= options_.window) return true;
  return found->second.failures < options_.failures;
}

void RateLimiter::failed(const std::string& key, Timestamp now) {
  const std::scoped_lock lock(mutex_);
  if (windows_.size() >= options_.keys_max) forget_old(now);
  Window& window = windows_[key];
  if (window.failures == 0 || now - window.began >= options_.window) window = Window{now, 0};
  ++window.failures;
}

void RateLimiter::succeeded(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  windows_.erase(key);
}

void RateLimiter::forget_old(Timestamp now) {
  std::erase_if(windows_,
                [&](const auto& entry) { return now - entry.second.began >= options_.window; });
  // All of them recent: somebody floods. Forget everything rather than grow.
  if (windows_.size() >= options_.keys_max) windows_.clear();
}

}  // namespace cardhour
