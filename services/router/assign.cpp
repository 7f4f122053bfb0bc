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

std::vector<DrafterRef> pick_drafters(const Workers& workers) {
  std::vector<std::pair<uint32_t, const Hello*>> ready;
  for (const auto& [peer, worker] : workers.all()) {
    if (worker.hello.role == Role::drafter && worker.takes_work()) ready.emplace_back(worker.load.sequences, &worker.hello);
  }
  std::ranges::stable_sort(ready, {}, [](const auto& drafter) { return drafter.first; });
  if (ready.size() > kDraftersPerSequenceMax) ready.resize(kDraftersPerSequenceMax);
  std::vector<DrafterRef> drafters;
  for (const auto& [load, hello] : ready) drafters.push_back({hello->incarnation, hello->draft_endpoint});
  return drafters;
}

}  // namespace slipstream
