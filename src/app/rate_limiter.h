// RateLimiter: counts failures in a sliding window per key, in bounded memory. Keys carry
// the client's address, so that one client's failures never block another's.
// Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/time.h"

namespace cardhour {

class RateLimiter {
 public:
  struct Options {
    int failures = 5;
    Duration window = minutes(1);
    size_t keys_max = 10'000;  // about 1 MB; beyond it the oldest windows are forgotten
  };
  explicit RateLimiter(Options options) : options_(options) {}

  // False when the key has used up its failures of the window.
  bool allows(const std::string& key, Timestamp now);
  void failed(const std::string& key, Timestamp now);
  void succeeded(const std::string& key);

 private:
  struct Window {
    Timestamp began;
    int failures = 0;
  };
  void forget_old(Timestamp now);

  Options options_;
  std::mutex mutex_;
  std::map<std::string, Window> windows_;
};

}  // namespace cardhour
