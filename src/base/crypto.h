// Cryptography, all of it libsodium's: password hashes (argon2id), token hashes, sealing of
// secrets at rest, base64, SHA-256, ed25519. Randomness comes in as arguments (ports/entropy.h)
// except for password salts. Thread-safe. Call crypto_init() once before anything else.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/secret.h"

namespace cardhour {

void crypto_init();  // CHECKs that libsodium is usable

// interactive: some 50 ms and 64 MiB, for people's passwords. cheap: for simulations only.
enum class PasswordCost { interactive, cheap };
std::string hash_password(std::string_view password, PasswordCost cost);
bool verify_password(const std::string& hash, std::string_view password);

// A hash of text that is random itself (tokens, codes): hex of keyless BLAKE2b-256.
std::string hash_token(std::string_view text);
// Equal in constant time.
bool equal_secrets(std::string_view a, std::string_view b);

using SealKey = std::array<uint8_t, 32>;
// XChaCha20-Poly1305: base64 of nonce and box. `nonce_bits` are 24 random bytes.
std::string seal(const SealKey& key, std::string_view plain,
                 const std::array<uint8_t, 24>& nonce_bits);
std::optional<Secret> unseal(const SealKey& key, std::string_view sealed);

std::string base64(std::span<const uint8_t> bytes);           // standard alphabet, padded
std::string base64_unpadded(std::span<const uint8_t> bytes);  // as ssh prints fingerprints
std::optional<std::string> unbase64(std::string_view text);
std::array<uint8_t, 32> sha256(std::string_view bytes);

struct Ed25519 {
  std::array<uint8_t, 32> public_key;
  std::array<uint8_t, 64> secret_key;
};
Ed25519 ed25519_from_seed(const std::array<uint8_t, 32>& seed);

}  // namespace cardhour
