#include "services/router/assign.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace slipstream {

bool can_serve(const Worker& worker, const LiveRequest& request) {
  return worker.hello.role == Role::verifier && worker.takes_work() && worker.hello.context_max >= request.context_needed() &&
         (!request.pinned() || worker.backend() == request.backend);
}

std::optional<Placement> pick_verifier(const Workers& workers, const PrefixMemory& memory, const LiveRequest& request) {
  std::vector<std::pair<std::tuple<bool, double, Peer>, const Worker*>> offers;
  for (const auto& [peer, worker] : workers.all()) {
    if (!can_serve(worker, request) || worker.sequences() >= worker.capacity()) continue;
    offers.push_back({{peer == request.refused_by, worker.load_with(0), peer}, &worker});
  }
  if (offers.empty()) return std::nullopt;
  const auto [refused, load, peer] = std::ranges::min_element(offers)->first;
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

std::vector<Peer> pick_drafters(const Workers& workers, Peer now, const DrafterFits& fits) {
  std::vector<std::tuple<int32_t, bool, uint32_t, Peer>> ready;
  for (const auto& [peer, worker] : workers.all()) {
    if (worker.hello.role != Role::drafter || !worker.takes_work() || !fits(peer, worker)) continue;
    ready.emplace_back(worker.assigned, peer != now, worker.load.sequences, peer);
  }
  std::ranges::sort(ready);
  if (ready.size() > kDraftersPerSequenceMax) ready.resize(kDraftersPerSequenceMax);
  std::vector<Peer> drafters;
  for (const auto& [assigned, other, load, peer] : ready) drafters.push_back(peer);
  return drafters;
}

}  // namespace slipstream
