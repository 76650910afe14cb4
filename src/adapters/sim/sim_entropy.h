// SimEntropy: a seeded generator, so that ids, tokens and draws of a simulation follow from
// its seed. xoshiro256** by Blackman and Vigna, seeded through splitmix64. Never for
// production. Thread-safe.
#pragma once

#include <array>
#include <bit>
#include <mutex>

#include "ports/entropy.h"

namespace cardhour {

// The generator itself, for whoever needs draws without a port. Not thread-safe.
class Xoshiro {
 public:
  explicit Xoshiro(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15ULL;  // splitmix64
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      word = z ^ (z >> 31);
    }
  }
  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  // Below `bound` (> 0). The bias of the modulus is below 2^-32 for bounds under 2^32.
  uint64_t below(uint64_t bound) { return next() % bound; }

 private:
  std::array<uint64_t, 4> state_{};
};

class SimEntropy final : public Entropy {
 public:
  explicit SimEntropy(uint64_t seed) : generator_(seed) {}

  void fill(std::span<uint8_t> bytes) override {
    const std::lock_guard lock(mutex_);
    uint64_t word = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (i % 8 == 0) word = generator_.next();
      bytes[i] = static_cast<uint8_t>(word >> (i % 8 * 8));
    }
  }

 private:
  std::mutex mutex_;
  Xoshiro generator_;
};

}  // namespace cardhour
