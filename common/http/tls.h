// The certificate and the private key of an HTTPS server (TLS 1.2 or 1.3).
//
//   TRY(http::Tls tls, http::Tls::load("cert.pem", "key.pem"));
//   http::Server::listen("0.0.0.0", 8443, handle, error_body, {.tls = tls});
//
// Copies share one certificate, which is read once.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"

namespace slipstream::http {

class Tls {
 public:
  Tls() = default;  // none: HTTP in clear
  // certificate_file: PEM, the server's own certificate first, then those between it and its
  // authority. key_file: PEM, without a password. Errors name the file, or say that the two do not
  // belong together.
  static Result<Tls> load(const std::string& certificate_file, const std::string& key_file);
  explicit operator bool() const { return context_ != nullptr; }

  struct Context;  // tls_context.h
  Context* context() const { return context_.get(); }

 private:
  std::shared_ptr<Context> context_;
};

}  // namespace slipstream::http
