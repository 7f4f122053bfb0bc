#include "services/router/http_api/api_key_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "common/base/limits.h"
#include "common/base/log.h"
#include "services/router/http_api/paths.h"
#include "services/router/http_api/tenant.h"

namespace slipstream {
namespace {

bool needs_key(const http::Request& request) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  return !reads || !(is_probe(request.path) || is_ui(request.path));
}

ApiError refused(std::string message) { return {.status = 401, .message = std::move(message), .code = "invalid_api_key"}; }

}  // namespace

Result<ApiKeyFile> ApiKeyFile::open(std::filesystem::path file) {
  ApiKeyFile opened(std::move(file));
  TRY(opened.keys_, opened.read());
  return opened;
}

bool ApiKeyFile::others_may_read() const { return (watch_.stamps().front().mode & S_IROTH) != 0; }

Result<ApiKeys> ApiKeyFile::read() const {
  const FileStamp now = FileStamp::of(file_);
  if (now == FileStamp{}) return fail("the file of API keys {} cannot be read: {}", file_.string(), std::strerror(errno));
  if (!S_ISREG(now.mode)) return fail("the file of API keys {} is no file", file_.string());
  if (static_cast<size_t>(now.bytes) > kApiKeyFileBytesMax) {
    return fail("the file of API keys {} has {} bytes, the limit is {}", file_.string(), now.bytes, kApiKeyFileBytesMax);
  }
  std::string text(static_cast<size_t>(now.bytes), '\0');
  std::ifstream stream(file_, std::ios::binary);
  if (!text.empty() && !stream.read(text.data(), now.bytes))
    return fail("the file of API keys {} cannot be read: check its permissions", file_.string());
  auto keys = ApiKeys::parse(text);
  if (!keys) return fail("the file of API keys {}: {}", file_.string(), keys.error().message);
  return keys;
}

void ApiKeyFile::look_again(Clock::time_point now) {
  if (!watch_.changed(now)) return;
  auto fresh = read();
  if (!fresh) return log_warning("going on with the {} API keys known before: {}", keys_.size(), fresh.error().message);
  keys_ = *std::move(fresh);
  log_info("read {} again: API keys in force: {}{}", file_.string(), keys_.size(),
           others_may_read() ? "; every user of this machine may read it (chmod o-r)" : "");
}

ApiResult<Admitted> ApiKeyFile::admit(const http::Request& request, Clock::time_point now) {
  const std::string_view key = key_in(request.authorization);
  TRY(KeyUse::Pass pass, use_.admit(tenant_of(request.authorization), keys_.find(key).value_or(KeyLimits{}), now));
  return Admitted{.pass = std::move(pass), .may_go_first = keys_.may_go_first(key)};
}

std::optional<ApiError> ApiKeyFile::refusal(const http::Request& request, Clock::time_point now) {
  if (!needs_key(request)) return std::nullopt;
  look_again(now);
  const std::string_view key = key_in(request.authorization);
  if (key.empty() && !request.authorization.empty()) {
    return refused(
        "The Authorization header holds no key that can be read: write `Authorization: Bearer KEY`, with the word Bearer and a "
        "blank before a key of this server (or send `x-api-key: KEY`).");
  }
  if (key.empty()) {
    return refused(
        "No API key came with the request: send `Authorization: Bearer KEY` (or `x-api-key: KEY`) with a key of this "
        "server.");
  }
  if (keys_.is_admin(key) || (keys_.has(key) && !is_admins(request.path))) return std::nullopt;
  if (keys_.has(key))
    return needs_admin("put your name before your key and the word admin behind it in the router's file of API keys");
  return refused("This API key is not one of this server's: check it, or ask who runs the server.");
}

}  // namespace slipstream
