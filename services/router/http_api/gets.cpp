// What the API answers to GET.
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/base/build_info.h"
#include "common/http/stuck_status.h"
#include "services/router/http_api/http_api.h"
#include "services/router/http_api/models_json.h"
#include "services/router/http_api/ollama_models.h"
#include "services/router/http_api/page.h"
#include "services/router/http_api/paths.h"
#include "services/router/http_api/tuning_page.h"
#include "services/router/http_api/ui_page.h"
#include "services/router/http_api/workers_page.h"

namespace slipstream {

using Json = nlohmann::ordered_json;

http::Response HttpApi::health() const {
  const std::string stuck = ports_.stuck();
  http::Response response = json_response(Json{{"status", stuck.empty() ? "ok" : stuck}}.dump());
  if (!stuck.empty()) response.status = http::kStuckStatus;
  return response;
}

ApiResult<http::Response> HttpApi::get(const http::Request& request) const {
  const std::string_view path = request.path;
  if (path == kHealthPath) return health();
  if (path == kMetricsPath) return text_response("text/plain; version=0.0.4; charset=utf-8", ports_.metrics());
  if (path == kWorkersPath) return json_response(workers_json(ports_.counters(), request.host));
  if (path == kTuningPath) return json_response(tuning_json(*ports_.counters().tuning));
  if (is_ui(path)) return ui_response(path);
  if (path == kOllamaTagsPath) return json_response(ollama_tags(model_, created_));
  if (path == kVersionPath || path == kOllamaVersionPath) return json_response(Json{{"version", build_info().version}}.dump());
  if (path == kPagePath) {
    std::string address;
    {
      std::lock_guard lock(mutex_);
      address = address_;
    }
    const std::string self = fmt::format("{:016x}, pid {}", incarnation_, getpid());
    auto page = text_response("text/plain; charset=utf-8",
                              state_page(self, model_.offer.name(), url_for(address, request.host), ports_.counters()));
    page.headers.emplace_back("Refresh", "1");  // a browser shows it anew each second, in place
    return page;
  }
  const std::string name = unescaped(path.substr(std::min(path.size(), kModelsPath.size() + 1)));
  TRY(std::string models, models_json(model_.offer, name, created_, context_max()));
  return json_response(std::move(models));
}

// A load balancer or a person asks, not a client, so the 503 is not counted as an error.
http::Response HttpApi::ready() const {
  const RouterCounters counters = ports_.counters();
  if (counters.closing) return error_response(api_error(shutting_down()));
  if (counters.verifiers > 0) {
    return json_response(Json{{"status", "ready"}, {"verifiers", counters.verifiers}, {"drafters", counters.drafters}}.dump());
  }
  const auto leaves = [](const WorkerFacts& worker) { return worker.role == Role::verifier && worker.leaving; };
  const auto leaver = std::ranges::find_if(*counters.workers, leaves);
  return error_response(
      {.status = 503,
       .message = leaver == counters.workers->end()
                      ? "No verifier is connected yet: start slipstream-verifier, or wait until it has loaded the model."
                      : fmt::format("No verifier takes requests: {:016x} leaves this router: {}.", leaver->incarnation,
                                    leaver->why_leaving),
       .code = "no_verifier",
       .retry_after_s = kRetryNoVerifierSeconds});
}

}  // namespace slipstream
