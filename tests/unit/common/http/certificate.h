// Makes a certificate that signs itself, for tests of TLS: files in a folder that is gone
// afterwards.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include "common/base/check.h"

namespace slipstream {

class Certificate {
 public:
  // alternative_name: as OpenSSL writes it, "IP:127.0.0.1" or "DNS:router.svc".
  explicit Certificate(const std::string& alternative_name = "IP:127.0.0.1") {
    std::string pattern = (std::filesystem::temp_directory_path() / "slipstream-tls-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> pair(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    X509_set_pubkey(made.get(), pair.get());
    X509_NAME* name = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(made.get(), name);
    X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative_name.c_str());
    X509_add_ext(made.get(), names, -1);
    X509_EXTENSION_free(names);
    CHECK(X509_sign(made.get(), pair.get(), EVP_sha256()) > 0, "no certificate for {}", alternative_name);
    std::FILE* to = std::fopen(file().c_str(), "w");
    PEM_write_X509(to, made.get());
    std::fclose(to);
    to = std::fopen(key_file().c_str(), "w");
    PEM_write_PrivateKey(to, pair.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(to);
  }
  ~Certificate() { std::filesystem::remove_all(folder_); }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

  std::string file() const { return (folder_ / "cert.pem").string(); }  // also the file of its authority
  std::string key_file() const { return (folder_ / "key.pem").string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace slipstream
