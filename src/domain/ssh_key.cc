#include "domain/ssh_key.h"

#include <optional>
#include <vector>

#include "base/crypto.h"
#include "base/limits.h"
#include "domain/access.h"

namespace cardhour {
namespace {

// The binary form of RFC 4251: a string is a 32-bit big-endian length and its bytes.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  std::optional<std::string_view> string() {
    if (rest_.size() < 4) return std::nullopt;
    uint32_t length = 0;
    for (int i = 0; i < 4; ++i) length = length << 8 | static_cast<uint8_t>(rest_[i]);
    if (length > rest_.size() - 4) return std::nullopt;
    const std::string_view value = rest_.substr(4, length);
    rest_.remove_prefix(4 + length);
    return value;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

void put_u32(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}
void put_string(std::string& out, std::string_view value) {
  put_u32(out, static_cast<uint32_t>(value.size()));
  out += value;
}

std::span<const uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

size_t bits_of_mpint(std::string_view number) {
  while (!number.empty() && number[0] == 0) number.remove_prefix(1);
  if (number.empty()) return 0;
  size_t bits = number.size() * 8;
  for (auto top = static_cast<uint8_t>(number[0]); !(top & 0x80);
       top = static_cast<uint8_t>(top << 1))
    --bits;
  return bits;
}

tl::unexpected<Error> bad(Text what) {
  return invalid("public_key", std::move(what),
                 Text{"paste the one line of a .pub file, e.g. ~/.ssh/id_ed25519.pub",
                      "请粘贴 .pub 文件中的一行，例如 ~/.ssh/id_ed25519.pub"});
}

constexpr std::string_view kEcdsa = "ecdsa-sha2-";

// An uncompressed point: one byte, and two coordinates.
size_t point_bytes(std::string_view curve) {
  return curve == "nistp256" ? 65 : curve == "nistp384" ? 97 : 133;
}

// The parts after the type name, by kind; sizes from RFC 8709, 5656 and 4253.
Status check_blob(std::string_view type, WireReader& blob) {
  std::vector<std::string_view> parts;
  while (!blob.at_end()) {
    const auto part = blob.string();
    if (!part || parts.size() > 4) return bad(Text{"the key is damaged", "密钥内容已损坏"});
    parts.push_back(*part);
  }
  bool right = false;
  if (type == "ssh-ed25519") right = parts.size() == 1 && parts[0].size() == 32;
  if (type == "sk-ssh-ed25519@openssh.com") right = parts.size() == 2 && parts[0].size() == 32;
  if (type.starts_with(kEcdsa)) {
    const std::string_view curve = type.substr(kEcdsa.size());
    right = parts.size() == 2 && parts[0] == curve && parts[1].size() == point_bytes(curve);
  }
  if (type.starts_with("sk-ecdsa")) right = parts.size() == 3;
  if (type == "ssh-rsa") {
    right = parts.size() == 2;
    if (right && bits_of_mpint(parts[1]) < 2048) {
      return bad(Text{"this RSA key is shorter than 2048 bits", "该 RSA 密钥短于 2048 位"});
    }
  }
  if (!right) return bad(Text{"the key is damaged", "密钥内容已损坏"});
  return {};
}

bool is_known_type(std::string_view type) {
  for (std::string_view known :
       {"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
        "ssh-rsa", "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"}) {
    if (type == known) return true;
  }
  return false;
}

std::string_view next_word(std::string_view& text) {
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
  const size_t end = text.find_first_of(" \t");
  const std::string_view word = text.substr(0, end);
  text = end == std::string_view::npos ? "" : text.substr(end);
  return word;
}

std::string fingerprint_of(std::string_view blob) {
  return "SHA256:" + base64_unpadded(sha256(blob));
}

}  // namespace

Result<ParsedSshKey> parse_ssh_key(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  if (text.size() > limits::kSshKeyBytes) return bad(Text{"the key is too long", "密钥过长"});
  if (text.find("PRIVATE KEY") != std::string_view::npos) {
    return bad(Text{"this is a private key: keep it to yourself", "这是私钥，请勿上传"});
  }
  if (text.find_first_of("\r\n") != std::string_view::npos) {
    return bad(
        Text{"one key at a time: this has several lines", "一次只能添加一个密钥：内容有多行"});
  }
  if (!is_valid_utf8_text(text)) {
    return bad(Text{"the key has control characters in it", "密钥中含有控制字符"});
  }
  ParsedSshKey key;
  key.type = std::string(next_word(text));
  if (!is_known_type(key.type)) {
    return bad(Text{"this is not an OpenSSH public key of a kind we accept (ed25519, ECDSA, RSA)",
                    "这不是受支持的 OpenSSH 公钥（ed25519、ECDSA、RSA）"});
  }
  const std::string encoded(next_word(text));
  const std::optional<std::string> blob = unbase64(encoded);
  if (!blob) return bad(Text{"the key is damaged", "密钥内容已损坏"});
  WireReader reader(*blob);
  const auto inner = reader.string();
  if (!inner || *inner != key.type) return bad(Text{"the key is damaged", "密钥内容已损坏"});
  TRY(check_blob(key.type, reader));
  while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  key.comment = std::string(text.substr(0, limits::kNameBytes));
  if (!is_valid_utf8_text(key.comment)) key.comment.clear();  // cut inside a character
  while (key.comment.ends_with(' ')) key.comment.pop_back();  // cut before a word
  key.normalized = key.type + " " + encoded + (key.comment.empty() ? "" : " " + key.comment);
  key.fingerprint = fingerprint_of(*blob);
  return key;
}

// PROTOCOL.key of OpenSSH: "openssh-key-v1", no cipher, one key, padded to 8 bytes.
HostKey make_host_key(const std::array<uint8_t, 32>& seed, std::string_view comment) {
  const Ed25519 pair = ed25519_from_seed(seed);
  const std::string_view public_bytes(reinterpret_cast<const char*>(pair.public_key.data()), 32);
  const std::string_view secret_bytes(reinterpret_cast<const char*>(pair.secret_key.data()), 64);

  std::string blob;
  put_string(blob, "ssh-ed25519");
  put_string(blob, public_bytes);

  std::string secret;
  const std::array<uint8_t, 32> digest = sha256(public_bytes);
  const uint32_t check =
      static_cast<uint32_t>(digest[0]) << 24 | digest[1] << 16 | digest[2] << 8 | digest[3];
  put_u32(secret, check);  // twice the same number tells a right passphrase
  put_u32(secret, check);
  put_string(secret, "ssh-ed25519");
  put_string(secret, public_bytes);
  put_string(secret, secret_bytes);
  put_string(secret, comment);
  for (char pad = 1; secret.size() % 8 != 0; ++pad) secret.push_back(pad);

  std::string file("openssh-key-v1\0", 15);
  put_string(file, "none");
  put_string(file, "none");
  put_string(file, "");
  put_u32(file, 1);
  put_string(file, blob);
  put_string(file, secret);

  const std::string encoded = base64(as_bytes(file));
  std::string pem = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
  for (size_t i = 0; i < encoded.size(); i += 70) pem += encoded.substr(i, 70) + "\n";
  pem += "-----END OPENSSH PRIVATE KEY-----\n";

  HostKey key;
  key.private_pem = Secret(std::move(pem));
  key.public_line = "ssh-ed25519 " + base64(as_bytes(blob)) + " " + std::string(comment);
  key.fingerprint = fingerprint_of(blob);
  return key;
}

}  // namespace cardhour
