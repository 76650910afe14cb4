// Entropy: random bits, for ids, tokens, passwords and salts. The production adapter is
// libsodium; the simulated one is a seeded generator. Implementations are thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "base/id.h"

namespace cardhour {

class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual void fill(std::span<uint8_t> bytes) = 0;

  uint64_t bits() {
    uint64_t value = 0;
    fill({reinterpret_cast<uint8_t*>(&value), sizeof value});
    return value;
  }
  template <class IdType>
  IdType id();
};

namespace internal {
template <class Tag>
Id<Tag> draw(Entropy& entropy, Id<Tag>*) {
  return make_id<Tag>(entropy.bits());
}
}  // namespace internal

template <class IdType>
IdType Entropy::id() {
  return internal::draw(*this, static_cast<IdType*>(nullptr));
}

}  // namespace cardhour
