#include "common/http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509err.h>

#include <fstream>

#include <boost/asio/error.hpp>

#include "common/base/log.h"
#include "common/http/tls_context.h"

namespace slipstream::http {
namespace {

using boost::system::error_code;

// OpenSSL's own error for a missing file says nothing of the file.
Result<void> check_readable(const std::string& file, std::string_view what) {
  if (std::ifstream(file).get() != std::ifstream::traits_type::eof()) return {};
  return fail("{} {} cannot be read: check that it is there, is not empty and that this user may read it", what, file);
}

}  // namespace

Result<Tls> Tls::load(const std::string& certificate_file, const std::string& key_file) {
  Tls tls;
  tls.certificate_file_ = certificate_file;
  tls.key_file_ = key_file;
  tls.watch_ = FileWatch({certificate_file, key_file});
  TRY_VOID(tls.read());
  return tls;
}

void Tls::look_again(FileWatch::Clock::time_point now) {
  if (!watch_.changed(now)) return;
  if (const auto done = read(); !done)
    return log_warning("going on with the certificate known before: {}", done.error().message);
  log_info("read {} again: new connections get this certificate", certificate_file_);
}

Result<void> Tls::read() {
  TRY_VOID(check_readable(certificate_file_, "the certificate"));
  TRY_VOID(check_readable(key_file_, "the private key"));
  auto context = std::make_shared<Context>();
  error_code error;
  SSL_CTX_set_min_proto_version(context->ssl.native_handle(), TLS1_2_VERSION);
  // Without this OpenSSL would ask for the password of a key on the terminal.
  context->ssl.set_password_callback([](size_t, auto) { return std::string(); }, error);
  context->ssl.use_certificate_chain_file(certificate_file_, error);
  if (error) return fail("{} is no certificate in PEM form ({})", certificate_file_, error.message());
  // OpenSSL compares the key with the certificate here.
  context->ssl.use_private_key_file(key_file_, boost::asio::ssl::context::pem, error);
  if (!error && SSL_CTX_check_private_key(context->ssl.native_handle()) == 1) {
    context_ = std::move(context);
    return {};
  }
  if (ERR_GET_REASON(static_cast<unsigned long>(error.value())) == X509_R_KEY_VALUES_MISMATCH ||
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) == X509_R_KEY_TYPE_MISMATCH) {
    return fail("the private key {} does not belong to the certificate {}", key_file_, certificate_file_);
  }
  return fail("{} is no private key in PEM form without a password ({})", key_file_, error.message());
}

}  // namespace slipstream::http
