#include "base/crypto.h"

#include <sodium.h>

#include "base/check.h"

namespace cardhour {
namespace {

const uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

std::string encode(std::span<const uint8_t> bytes, int variant) {
  std::string text(sodium_base64_encoded_len(bytes.size(), variant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), variant);
  text.pop_back();  // the terminating NUL
  return text;
}

}  // namespace

void crypto_init() { CHECK(sodium_init() >= 0, "libsodium cannot start"); }

std::string hash_password(std::string_view password, PasswordCost cost) {
  char hash[crypto_pwhash_STRBYTES];
  const bool cheap = cost == PasswordCost::cheap;
  const int failed =
      crypto_pwhash_str(hash, password.data(), password.size(),
                        cheap ? crypto_pwhash_OPSLIMIT_MIN : crypto_pwhash_OPSLIMIT_INTERACTIVE,
                        cheap ? crypto_pwhash_MEMLIMIT_MIN : crypto_pwhash_MEMLIMIT_INTERACTIVE);
  CHECK(failed == 0, "out of memory for a password hash");
  return hash;
}

bool verify_password(const std::string& hash, std::string_view password) {
  return crypto_pwhash_str_verify(hash.c_str(), password.data(), password.size()) == 0;
}

std::string hash_token(std::string_view text) {
  std::array<uint8_t, 32> digest;
  crypto_generichash(digest.data(), digest.size(), bytes_of(text), text.size(), nullptr, 0);
  std::array<char, 65> hex;
  sodium_bin2hex(hex.data(), hex.size(), digest.data(), digest.size());
  return hex.data();
}

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string seal(const SealKey& key, std::string_view plain,
                 const std::array<uint8_t, 24>& nonce_bits) {
  static_assert(crypto_secretbox_xchacha20poly1305_NONCEBYTES == 24);
  std::string box(24 + crypto_secretbox_xchacha20poly1305_MACBYTES + plain.size(), '\0');
  std::copy(nonce_bits.begin(), nonce_bits.end(), box.begin());
  crypto_secretbox_xchacha20poly1305_easy(reinterpret_cast<uint8_t*>(box.data()) + 24,
                                          bytes_of(plain), plain.size(), nonce_bits.data(),
                                          key.data());
  return base64({bytes_of(box), box.size()});
}

std::optional<Secret> unseal(const SealKey& key, std::string_view sealed) {
  constexpr size_t kOverhead = 24 + crypto_secretbox_xchacha20poly1305_MACBYTES;
  const std::optional<std::string> box = unbase64(sealed);
  if (!box || box->size() < kOverhead) return std::nullopt;
  std::string plain(box->size() - kOverhead, '\0');
  if (crypto_secretbox_xchacha20poly1305_open_easy(reinterpret_cast<uint8_t*>(plain.data()),
                                                   bytes_of(*box) + 24, box->size() - 24,
                                                   bytes_of(*box), key.data()) != 0) {
    return std::nullopt;
  }
  return Secret(std::move(plain));
}

std::string base64(std::span<const uint8_t> bytes) {
  return encode(bytes, sodium_base64_VARIANT_ORIGINAL);
}

std::string base64_unpadded(std::span<const uint8_t> bytes) {
  return encode(bytes, sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
}

std::optional<std::string> unbase64(std::string_view text) {
  std::string bytes(text.size(), '\0');
  size_t size = 0;
  if (sodium_base642bin(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size(), text.data(),
                        text.size(), nullptr, &size, nullptr,
                        sodium_base64_VARIANT_ORIGINAL) != 0) {
    return std::nullopt;
  }
  bytes.resize(size);
  return bytes;
}

std::array<uint8_t, 32> sha256(std::string_view bytes) {
  std::array<uint8_t, 32> digest;
  crypto_hash_sha256(digest.data(), bytes_of(bytes), bytes.size());
  return digest;
}

Ed25519 ed25519_from_seed(const std::array<uint8_t, 32>& seed) {
  Ed25519 pair;
  crypto_sign_seed_keypair(pair.public_key.data(), pair.secret_key.data(), seed.data());
  return pair;
}

}  // namespace cardhour
