// What the router needs to let clients in beyond its address, read from the files that its settings
// name: API keys, and a certificate for HTTPS.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/config/router_config.h"
#include "common/http/tls.h"
#include "services/router/allowed_hosts.h"
#include "services/router/http_api/api_key_file.h"

namespace slipstream {

struct ClientAccess {
  std::optional<ApiKeyFile> keys;  // none: no key is asked for
  http::Tls tls;                   // none: HTTP in clear
  http::Cors cors;                 // pages of other origins that may call the API
  AllowedHosts hosts;              // by which names it may be called
  bool loopback = true;            // nobody reaches the API but this machine

  // Why the request may not pass (api_key_file.h); nullopt: it may. It calls the router by a name
  // that is allowed, or asks what load balancers ask. Without keys, only this machine may do what
  // is an admin's. On the server's thread.
  std::optional<ApiError> refusal(const http::Request& request);
};

// Errors name the file.
Result<ClientAccess> open_client_access(const RouterOptions& options);

// The error of open_client_access(), for the check of the settings; empty: there is none.
std::vector<std::string> client_access_problems(const RouterOptions& options);

// Logs what the operator should know of who may reach the API and read its files.
void tell_client_access(const RouterOptions& options, const ClientAccess& access);

}  // namespace slipstream
