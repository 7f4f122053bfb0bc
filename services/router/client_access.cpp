#include "services/router/client_access.h"

#include <fmt/format.h>

#include "common/base/endpoint.h"
#include "common/base/log.h"
#include "services/router/http_api/paths.h"

namespace slipstream {

Result<ClientAccess> open_client_access(const RouterOptions& options) {
  ClientAccess access;
  access.cors.origins = options.cors_origin;
  const auto http = parse_endpoint(options.http);
  access.loopback = http && http->loopback();
  // A page that does not know a key can do nothing, and beyond loopback it is not known here which
  // names lead to this machine.
  if (!options.allowed_host.empty() || (access.loopback && options.api_key_file.empty())) {
    access.hosts = AllowedHosts(options.allowed_host);
  }
  if (!options.api_key_file.empty()) {
    TRY(access.keys, ApiKeyFile::open(options.api_key_file));
  }
  if (!options.tls_cert.empty()) {
    TRY(access.tls, http::Tls::load(options.tls_cert, options.tls_key));
  }
  return access;
}

std::optional<ApiError> ClientAccess::refusal(const http::Request& request) {
  if (!is_probe(request.path) && !hosts.allow(request.host)) return unknown_host(request.host);
  if (keys) return keys->refusal(request);
  if ((loopback && cors.origins.empty()) || !is_admins(request.path)) return std::nullopt;
  return needs_admin(
      "start the router with --api-key-file, and put your name before your key and the word admin behind it in that file");
}

std::vector<std::string> client_access_problems(const RouterOptions& options) {
  for (const std::string& name : options.allowed_host) {
    if (is_host_name(name)) continue;
    return {fmt::format("--allowed-host has \"{}\": write a name such as chat.example, without https:// and port, or *", name)};
  }
  const auto access = open_client_access(options);
  if (access) return {};
  return {access.error().message};
}

void tell_client_access(const RouterOptions& options, const ClientAccess& access) {
  if (access.keys) {
    log_info("clients need an API key of {}, which has {}", options.api_key_file, access.keys->keys());
    if (access.keys->others_may_read())
      log_warning("every user of this machine may read {}: take that right away (chmod o-r)", options.api_key_file);
  }
  const auto http = parse_endpoint(options.http);
  if (!http || http->loopback()) return;
  if (!access.keys) log_warning("no API key is asked for: anyone who can reach {} may use it (--open)", options.http);
  if (!access.tls) log_warning("{} speaks HTTP in clear: prompts, answers and keys can be read on the way", options.http);
}

}  // namespace slipstream
