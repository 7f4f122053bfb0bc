// A live request goes on at another verifier, because its own is lost, leaves, or has much more to
// do than another. The other verifier computes prompt and output again under a new epoch, to the
// same bits, so that no token is lost and none comes twice.
#include <algorithm>
#include <ranges>

#include "services/router/router_state.h"

namespace slipstream {

void Router::State::to_waiting(LiveRequest& request, Waiting as) {
  release(request);
  request.phase = as;
  admission.add_front(request.submit.request);
}

// The requests of a verifier that is lost, silent or stuck go back to the queue.
void Router::State::requeue(Peer verifier, Time now, Effects& effects) {
  std::vector<RequestId> lost;
  for (const auto& [id, request] : requests) {
    if (request.is_at(verifier)) lost.push_back(id);
  }
  for (RequestId id : std::views::reverse(lost)) {  // each goes to the head of the queue, so the oldest is first again
    LiveRequest& request = requests.at(id);
    cancel(request, effects);  // the verifier may still live
    if (finish_if_complete(request, now, effects)) continue;
    to_waiting(request, {.since = now, .no_verifier_since = now});
  }
}

// What the verifier before still sends is of an older epoch, and therefore stale.
void Router::State::move(LiveRequest& request, Placement placement, Time now, Effects& effects) {
  cancel(request, effects);
  if (!finish_if_complete(request, now, effects)) start(request, placement, now, effects);
}

void Router::State::move_away(Peer verifier, Time now, Effects& effects) {
  for (RequestId id : request_ids()) {
    const auto at = requests.find(id);
    if (at == requests.end() || !at->second.is_at(verifier)) continue;
    if (const auto other = pick_verifier(workers, memory, at->second)) move(at->second, *other, now, effects);
  }
}

void Router::State::move_to_idle_verifiers(Time now, Effects& effects) {
  while (const auto due = rebalance.next(workers, requests, now)) {
    LiveRequest& request = requests.at(due->request);
    request.moved = now;
    request.came_from = request.at_verifier().verifier;
    move(request, {.verifier = due->to, .why = Placement::Why::rebalance}, now, effects);
  }
}

// Whether a request whose step failed may try once at another verifier: a fault of the request
// itself would come again there.
bool Router::State::goes_on_elsewhere(LiveRequest& request, const Tokens& failed) {
  if (!failed.field.empty() || request.failed_once) return false;
  request.failed_once = true;
  request.refused_by = request.at_verifier().verifier;
  return std::ranges::any_of(workers.all(), [&](const auto& other) {  // it need not have room now: the request waits
    return other.first != request.refused_by && can_serve(other.second, request);
  });
}

// Ends a request whose tokens are all here, and whose finish was lost with the verifier: nothing is
// left to compute.
bool Router::State::finish_if_complete(LiveRequest& request, Time now, Effects& effects) {
  const auto emitted = request.received.emitted();
  if (emitted.empty()) return false;
  const std::vector<TokenId>& stop_ids = request.submit.spec.stop_ids;
  const bool stopped = std::ranges::find(stop_ids, emitted.back()) != stop_ids.end();
  if (!stopped && request.received.next_index() < request.output_max) return false;
  deliver(request, {.finish = stopped ? Finish::stop : Finish::length}, now, effects);
  return true;
}

}  // namespace slipstream
