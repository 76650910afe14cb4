#include "adapters/system/entropy.h"

#include <sodium.h>

namespace cardhour {

void SystemEntropy::fill(std::span<uint8_t> bytes) { randombytes_buf(bytes.data(), bytes.size()); }

}  // namespace cardhour
