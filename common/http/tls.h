// The certificate and the private key of an HTTPS server (TLS 1.2 or 1.3).
//
//   TRY(http::Tls tls, http::Tls::load("cert.pem", "key.pem"));
//   http::Server::listen("0.0.0.0", 8443, handle, error_body, {.tls = tls});
//
// A server looks at the files again while it runs, so that a certificate that was renewed counts
// without a restart.
#pragma once

#include <memory>
#include <string>

#include "common/base/file_stamp.h"
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

  // Reads files that have changed, as the log says. New connections then get the new certificate;
  // those that are open keep theirs. Files that are bad change nothing: of a renewal that writes
  // one file after the other, the first alone does not fit.
  void look_again(FileWatch::Clock::time_point now = FileWatch::Clock::now());

  struct Context;  // tls_context.h
  Context* context() const { return context_.get(); }

 private:
  Result<void> read();

  std::string certificate_file_, key_file_;
  FileWatch watch_;
  std::shared_ptr<Context> context_;
};

}  // namespace slipstream::http
