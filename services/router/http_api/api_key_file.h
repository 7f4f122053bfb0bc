// Asks each request for an API key of a file, and reads the file again when it changes: a key that
// is taken out of it is refused within a second or so, without a restart.
//
//   TRY(ApiKeyFile keys, ApiKeyFile::open("api-keys"));
//   if (const auto refusal = keys.refusal(request)) ...  // send it
//
// /health, /ready and /metrics need no key, because load balancers and Prometheus ask for them.
// They tell nothing of a prompt or an answer. The files of the page /ui need none either: a browser
// loads them before anyone can type a key into them.
//
// Not thread-safe: the HTTP server's thread asks it.
#pragma once

#include <filesystem>
#include <optional>

#include "common/base/file_stamp.h"
#include "common/base/result.h"
#include "common/http/server.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/api_keys.h"

namespace slipstream {

class ApiKeyFile {
 public:
  using Clock = FileWatch::Clock;

  // Errors name the file, and the line that is bad (api_keys.h).
  static Result<ApiKeyFile> open(std::filesystem::path file);

  // Why the request may not pass: a 401, or a 403 without an admin's key; nullopt: it may. A file
  // that has changed is read before, as the log says; one that is bad leaves the keys as they were.
  std::optional<ApiError> refusal(const http::Request& request, Clock::time_point now = Clock::now());
  // Counts the request against the limits of its key (key_use.h); a 429 if it is over one.
  // REQUIRES: refusal() let it pass.
  ApiResult<Admitted> admit(const http::Request& request, Clock::time_point now = Clock::now());
  size_t keys() const { return keys_.size(); }
  bool others_may_read() const;  // every user of this machine may read the file

 private:
  explicit ApiKeyFile(std::filesystem::path file) : file_(std::move(file)), watch_({file_}) {}
  Result<ApiKeys> read() const;
  void look_again(Clock::time_point now);

  std::filesystem::path file_;
  FileWatch watch_;
  ApiKeys keys_;
  KeyUse use_;
};

}  // namespace slipstream
