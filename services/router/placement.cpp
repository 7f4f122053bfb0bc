#include "services/router/placement.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace slipstream {

bool can_serve(const KnownWorker& worker, const LiveRequest& request) {
  if (request.submit.spec.prompt_logprobs && !worker.hello.scores_prompts) return false;
  return worker.hello.role == Role::verifier && worker.takes_work() && worker.hello.context_max >= request.context_needed() &&
         (!request.pinned() || worker.backend() == request.backend);
}

std::optional<Placement> pick_verifier(const Workers& workers, const PrefixMemory& memory, const LiveRequest& request) {
  std::vector<std::pair<std::tuple<bool, double, Peer>, const KnownWorker*>> offers;
  for (const auto& [peer, worker] : workers.all()) {
    if (!can_serve(worker, request) || worker.sequences() >= worker.capacity()) continue;
    const bool last = peer == request.refused_by || worker.rests_until;
    offers.push_back({{last, worker.load_with(0), peer}, &worker});
  }
  if (offers.empty()) return std::nullopt;
  const auto [last, load, peer] = std::ranges::min_element(offers)->first;

  // Affinity: the offer with the longest known prefix replaces the least loaded one, unless it has
  // just refused, had a step that failed, or is loaded beyond the slack.
  Placement placement{.verifier = peer};
  int32_t longest = kAffinityTokensMin - 1;
  const std::map<Peer, int32_t> held = memory.find(request.prefixes);
  for (const auto& [cost, worker] : offers) {
    const auto at = held.find(std::get<Peer>(cost));
    if (at == held.end() || at->second <= longest || std::get<bool>(cost)) continue;
    if (worker->load_with(1 - kAffinitySlackSequences) > load) continue;
    longest = at->second;
    placement = {.verifier = at->first, .why = Placement::Why::affinity};
  }
  return placement;
}

}  // namespace slipstream
