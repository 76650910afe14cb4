// SystemEntropy: libsodium's generator, which is the kernel's. Thread-safe.
// crypto_init() (base/crypto.h) comes first.
#pragma once

#include "ports/entropy.h"

namespace cardhour {

class SystemEntropy final : public Entropy {
 public:
  void fill(std::span<uint8_t> bytes) override;
};

}  // namespace cardhour
