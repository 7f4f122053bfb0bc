#include "services/router/assign.h"

#include <algorithm>
#include <tuple>

namespace slipstream {

bool can_serve(const Worker& worker, const LiveRequest& request) {
  return worker.hello.role == Role::verifier && worker.takes_work() && worker.hello.context_max >= request.context_needed() &&
         (!request.pinned() || worker.backend() == request.backend);
}

std::optional<Peer> pick_verifier(const Workers& workers, const LiveRequest& request) {
  using Cost = std::tuple<bool, int32_t, uint32_t>;
  std::optional<std::pair<Cost, Peer>> best;
  for (const auto& [peer, worker] : workers.all()) {
    const int32_t room = std::min(worker.hello.sequences_max, kSequencesPerVerifierMax);
    if (!can_serve(worker, request) || worker.assigned >= room) continue;
    const std::pair<Cost, Peer> offer{{peer == request.refused_by, worker.assigned, worker.load.sequences}, peer};
    if (!best || offer < *best) best = offer;
  }
  if (!best) return std::nullopt;
  return best->second;
}

std::vector<Peer> pick_drafters(const Workers& workers, Peer now) {
  std::vector<std::tuple<int32_t, bool, uint32_t, Peer>> ready;
  for (const auto& [peer, worker] : workers.all()) {
    if (worker.hello.role != Role::drafter || !worker.takes_work()) continue;
    ready.emplace_back(worker.assigned, peer != now, worker.load.sequences, peer);
  }
  std::ranges::sort(ready);
  if (ready.size() > kDraftersPerSequenceMax) ready.resize(kDraftersPerSequenceMax);
  std::vector<Peer> drafters;
  for (const auto& [assigned, other, load, peer] : ready) drafters.push_back(peer);
  return drafters;
}

}  // namespace slipstream
