// Reads what the router needs of a model folder or GGUF file: tokenizer, chat template, and the
// fingerprint that its workers must share. It reads no weights.
#pragma once

#include "common/base/result.h"
#include "common/config/router_config.h"
#include "services/router/http_api/http_api.h"
#include "services/router/router_config.h"

namespace slipstream {

struct ModelFolder {
  ServedModel served;
  RouterConfig config;          // fingerprint, context and options; the incarnation is not set
  std::string prometheus = {};  // its address, if workers are not asked themselves
  bool vllm_metrics = false;    // /metrics has vLLM's names, too
};

// Errors name the file.
Result<ModelFolder> read_model_folder(const RouterOptions& options);

}  // namespace slipstream
