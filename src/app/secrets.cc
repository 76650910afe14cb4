#include "app/secrets.h"

#include <array>

namespace cardhour {
namespace {

std::string encoded(std::string_view text) {
  return base64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace

std::string seal_secrets(const Deps& deps, const InstanceSecrets& secrets) {
  std::string plain;
  for (std::string_view part :
       {std::string_view(secrets.host_key_private.reveal()),
        std::string_view(secrets.host_key_public), std::string_view(secrets.password.reveal()),
        std::string_view(secrets.token.reveal())}) {
    plain += encoded(part) + "\n";
  }
  std::array<uint8_t, 24> nonce;
  deps.entropy.fill(nonce);
  return seal(deps.seal_key, plain, nonce);
}

Result<InstanceSecrets> unseal_secrets(const Deps& deps, const std::string& sealed) {
  const auto broken = [] {
    return fail(ErrorCode::internal,
                Text{"this instance's secrets cannot be opened: secret.key is not the one that "
                     "sealed them",
                     "无法解开实例的机密数据：secret.key 与加密时所用的不一致"},
                Text{"the operator must put back the secret.key of this data directory",
                     "请运营者恢复该数据目录原有的 secret.key"});
  };
  const std::optional<Secret> plain = unseal(deps.seal_key, sealed);
  if (!plain) return broken();
  std::array<std::string, 4> parts;
  std::string_view rest = plain->reveal();
  for (std::string& part : parts) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) return broken();
    std::optional<std::string> decoded = unbase64(rest.substr(0, end));
    if (!decoded) return broken();
    part = std::move(*decoded);
    rest.remove_prefix(end + 1);
  }
  return InstanceSecrets{Secret(parts[0]), parts[1], Secret(parts[2]), Secret(parts[3])};
}

Secret random_secret(Entropy& entropy, size_t characters) {
  constexpr std::string_view kAlphabet = "abcdefghijkmnpqrstuvwxyz23456789";
  std::string text(characters, '\0');
  entropy.fill({reinterpret_cast<uint8_t*>(text.data()), text.size()});
  for (char& c : text) c = kAlphabet[static_cast<uint8_t>(c) & 31];
  return Secret(std::move(text));
}

MintedToken mint_token(const Deps& deps, const AccountId& account, TokenKind kind,
                       const std::string& scopes) {
  constexpr size_t kCharacters = 40;  // 200 bits
  const Secret secret = random_secret(deps.entropy, kCharacters);
  MintedToken minted;
  minted.token.id = deps.entropy.id<TokenId>();
  minted.token.account_id = account;
  minted.token.kind = kind;
  minted.token.scopes = scopes;
  minted.token.secret_hash = hash_token(secret.reveal());
  minted.token.created_at = deps.clock.now();
  minted.text = Secret("ch_" + minted.token.id.text + "_" + secret.reveal());
  return minted;
}

Status make_identity(Tx& tx, const Deps& deps, Instance& instance) {
  constexpr size_t kPasswordCharacters = 16;  // 80 bits
  std::array<uint8_t, 32> seed;
  deps.entropy.fill(seed);
  const HostKey host_key = make_host_key(seed, instance.id.text);
  MintedToken token = mint_token(deps, instance.account_id, TokenKind::instance, "");
  token.token.instance_id = instance.id;
  token.token.name = instance.id.text;
  instance.host_key_fingerprint = host_key.fingerprint;
  instance.secrets_sealed = seal_secrets(
      deps, InstanceSecrets{host_key.private_pem, host_key.public_line,
                            random_secret(deps.entropy, kPasswordCharacters), token.text});
  return tx.accounts().insert_token(token.token);
}

}  // namespace cardhour
