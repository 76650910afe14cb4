#include "adapters/http/tls_identity.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

namespace cardhour::http {
namespace {

constexpr long kValidSeconds = 10L * 365 * 24 * 3600;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIGNUM* number) const { BN_free(number); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

tl::unexpected<Error> failed(const std::string& file, const Text& why) {
  return fail(
      ErrorCode::internal,
      Text{fmt::format("TLS file {}: {}", file, why.en),
           fmt::format("TLS 文件 {}：{}", file, why.zh)},
      {"Check the data directory's permissions and space.", "请检查数据目录的权限和剩余空间。"});
}

bool exists(const std::string& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0;
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    unsigned char buffer[sizeof(in6_addr)];
    const bool is_ip = inet_pton(AF_INET, name.c_str(), buffer) == 1 ||
                       inet_pton(AF_INET6, name.c_str(), buffer) == 1;
    list += (list.empty() ? "" : ",") + std::string(is_ip ? "IP:" : "DNS:") + name;
  }
  return list;
}

bool add_extension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

Owned<X509> self_signed(EVP_PKEY* key, const std::vector<std::string>& names) {
  Owned<X509> certificate(X509_new());
  const Owned<BIGNUM> serial(BN_new());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const bool made =
      X509_set_version(certificate.get(), 2) == 1 &&
      BN_rand(serial.get(), 120, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
      BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate.get())) != nullptr &&
      X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600) != nullptr &&
      X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kValidSeconds) != nullptr &&
      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>("Cardhour"), -1, -1,
                                 0) == 1 &&
      X509_set_issuer_name(certificate.get(), subject) == 1 &&
      X509_set_pubkey(certificate.get(), key) == 1 &&
      add_extension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE") &&
      add_extension(certificate.get(), NID_ext_key_usage, "serverAuth") &&
      add_extension(certificate.get(), NID_subject_alt_name, alternative_names(names)) &&
      X509_sign(certificate.get(), key, EVP_sha256()) > 0;
  return made ? std::move(certificate) : nullptr;
}

Owned<std::FILE> create(const std::string& file, mode_t mode) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  return Owned<std::FILE>(descriptor < 0 ? nullptr : ::fdopen(descriptor, "w"));
}

Status make(const TlsFiles& files, const std::vector<std::string>& names) {
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  const Owned<X509> certificate = key == nullptr ? nullptr : self_signed(key.get(), names);
  if (certificate == nullptr) {
    return invalid("tls.names",
                   {"cannot make a certificate for these names", "无法为这些名称生成证书"});
  }
  Owned<std::FILE> key_file = create(files.key, 0600);
  if (key_file == nullptr ||
      PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      std::fflush(key_file.get()) != 0) {
    return failed(files.key, {"cannot be written", "无法写入"});
  }
  Owned<std::FILE> certificate_file = create(files.certificate, 0644);
  if (certificate_file == nullptr ||
      PEM_write_X509(certificate_file.get(), certificate.get()) != 1 ||
      std::fflush(certificate_file.get()) != 0) {
    return failed(files.certificate, {"cannot be written", "无法写入"});
  }
  return {};
}

Result<std::string> fingerprint_of(const std::string& file) {
  const Owned<std::FILE> opened(std::fopen(file.c_str(), "re"));
  const Owned<X509> certificate(
      opened == nullptr ? nullptr : PEM_read_X509(opened.get(), nullptr, nullptr, nullptr));
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  if (certificate == nullptr ||
      X509_digest(certificate.get(), EVP_sha256(), digest, &length) != 1) {
    return failed(file, {"not a readable PEM certificate", "不是可读的 PEM 证书"});
  }
  std::string text;
  for (unsigned i = 0; i < length; ++i)
    text += fmt::format("{}{:02X}", i > 0 ? ":" : "", digest[i]);
  return text;
}

}  // namespace

Result<TlsIdentity> ensure_self_signed(const std::string& directory,
                                       const std::vector<std::string>& names) {
  TlsIdentity identity;
  identity.files = TlsFiles{directory + "/tls.crt", directory + "/tls.key"};
  if (!exists(identity.files.certificate) && !exists(identity.files.key)) {
    TRY(make(identity.files, names));
  }
  TRY_ASSIGN(identity.fingerprint, fingerprint_of(identity.files.certificate));
  return identity;
}

}  // namespace cardhour::http
