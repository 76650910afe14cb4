#include "base/id.h"

namespace cardhour {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijkmnpqrstuvwxyz23456789";
constexpr size_t kLength = 12;
static_assert(kAlphabet.size() == 32);

}  // namespace

std::string id_text(char prefix, unsigned long long random_bits) {
  std::string text(1, prefix);
  for (size_t i = 0; i < kLength; ++i) {
    text.push_back(kAlphabet[random_bits & 31]);
    random_bits >>= 5;
  }
  return text;
}

bool is_id_text(char prefix, std::string_view text) {
  return text.size() == kLength + 1 && text[0] == prefix &&
         text.find_first_not_of(kAlphabet, 1) == std::string_view::npos;
}

}  // namespace cardhour
