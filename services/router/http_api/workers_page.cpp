#include "services/router/http_api/workers_page.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "services/router/http_api/page.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json json_of(const WorkerFacts& worker, std::string_view host) {
  return {{"role", role_name(worker.role)},
          {"incarnation", fmt::format("{:016x}", worker.incarnation)},
          {"pid", worker.pid},
          {"state", state_of(worker)},
          {"what", worker.what},
          {"metrics", page_for(worker.metrics_endpoint, host)},
          {"sequences", worker.role == Role::verifier ? worker.assigned : worker.sequences},
          {"busy", worker.busy},
          {"drained", worker.drained},
          {"greedy_gain", number_or_null(worker.greedy_gain)},
          {"coupled_gain", number_or_null(worker.coupled_gain)}};
}

}  // namespace

std::string_view state_of(const WorkerFacts& worker) {
  if (worker.leaving) return "leaving";
  if (worker.silent) return "silent";
  if (worker.stuck) return "stuck";
  if (worker.resting) return "resting";
  return worker.drained ? "drained" : "ready";
}

std::string_view role_name(Role role) { return role == Role::verifier ? "verifier" : "drafter"; }

std::string workers_json(const RouterCounters& counters, std::string_view host) {
  Json workers = Json::array();
  for (const WorkerFacts& worker : *counters.workers) workers.push_back(json_of(worker, host));
  return Json{{"workers", std::move(workers)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace slipstream
