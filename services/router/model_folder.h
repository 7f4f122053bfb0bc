// What the router needs of a model folder or GGUF file: words to tokens and back, and which tokens
// its workers must speak. No weights.
#pragma once

#include "common/base/result.h"
#include "common/config/router_config.h"
#include "services/router/http_api/http_api.h"
#include "services/router/router_config.h"

namespace slipstream {

struct ModelFolder {
  ServedModel served;
  RouterConfig config;  // fingerprint, context and what the options say; no incarnation yet
};

// Errors name the file.
Result<ModelFolder> read_model_folder(const RouterOptions& options);

}  // namespace slipstream
