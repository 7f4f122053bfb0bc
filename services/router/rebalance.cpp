#include "services/router/rebalance.h"

#include <algorithm>
#include <tuple>

namespace slipstream {
namespace {

constexpr int kHeartbeatsFresh = 3;  // nothing moves to a verifier that missed these: it may have died

// The sequences that `from` has beyond an equal load of the two; 0 if `to` with one of them would
// be the busier one.
double gap(const KnownWorker& from, const KnownWorker& to) {
  const bool same = from.hello.role == Role::verifier && from.takes_work() && from.backend() == to.backend();
  if (!same || from.load_with(-1) < to.load_with(1)) return 0;
  return from.sequences() - to.load_with(0) * from.capacity();
}

// The gain of a move minus its cost, in recomputed tokens; 0 or less: it does not pay.
int64_t worth(const LiveRequest& request) {
  const auto emitted = static_cast<int32_t>(request.received.emitted().size());
  const int64_t left = std::min(request.output_max - emitted, std::max(emitted, kLikelyLeftTokens));
  const int64_t held = static_cast<int64_t>(request.submit.prompt.size()) + emitted;
  return left * kReplayTokensPerTokenLeft - held;
}

}  // namespace

bool Rebalance::receives(const KnownWorker& to, Time now) const {
  return to.hello.role == Role::verifier && to.takes_work() && !to.rests_until && to.sequences() < to.capacity() &&
         now - to.heard < kHeartbeatsFresh * std::chrono::milliseconds(config_.heartbeat_ms);
}

std::optional<Rebalance::Move> Rebalance::next(const Workers& workers, const std::map<RequestId, LiveRequest>& requests,
                                               Time now) {
  if (config_.rebalance_ms == 0) return std::nullopt;
  const Time patience = std::chrono::milliseconds(config_.rebalance_ms);
  const auto& all = workers.all();
  for (const auto& [peer, to] : all) {
    const auto busier = [&](const KnownWorker* other) { return gap(*other, to) >= kRebalanceGapSequences; };
    if (!receives(to, now) || std::ranges::none_of(workers.verifiers(), busier)) {
      idle_since_.erase(peer);
      continue;
    }
    Time& since = idle_since_.try_emplace(peer, now).first->second;
    if (now - since < patience) continue;
    std::tuple<double, int64_t, RequestId> best{};  // from the busiest verifier, the request that pays most
    for (const auto& [id, request] : requests) {
      if (!request.runs() || request.is_at(peer) || request.came_from == peer) continue;
      if (request.moved && now - *request.moved < kMoveRest) continue;
      const double sequences = gap(all.at(request.at_verifier().verifier), to);
      if (sequences < kRebalanceGapSequences || worth(request) <= 0 || !can_serve(to, request)) continue;
      best = std::max(best, {sequences, worth(request), id});
    }
    if (std::get<double>(best) == 0) continue;
    since = now - patience + std::chrono::milliseconds(config_.rebalance_interval_ms);
    return Move{std::get<RequestId>(best), peer};
  }
  return std::nullopt;
}

}  // namespace slipstream
