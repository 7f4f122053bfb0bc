// Who drafts for a live request. It has a first drafter, whose load it is, and others to fall back on; both may change while it
// runs (Assign), and nothing but its speed depends on them.
#include "services/router/assign.h"
#include "services/router/router_state.h"

namespace slipstream {

// And counts it with the first of them.
void Router::State::give_drafters(LiveRequest& request) {
  const Peer before = request.drafter;
  take_drafters(request);
  if (!request.submit.speculate) return;
  for (Peer peer : pick_drafters(workers, before)) {
    Worker& worker = *workers.find(peer);
    if (request.drafters.empty()) {
      request.drafter = peer;
      ++worker.assigned;
      workers_changed = true;
    }
    request.drafters.push_back({worker.hello.incarnation, worker.hello.draft_endpoint});
  }
}

void Router::State::take_drafters(LiveRequest& request) {
  request.drafters.clear();
  if (Worker* worker = workers.find(std::exchange(request.drafter, Peer{}))) {
    --worker->assigned;
    workers_changed = true;
  }
}

// Drafters came or went: requests that had none or whose first is gone, and some of those whose first is busier than another,
// get new ones.
void Router::State::look_at_drafters() {
  if (!std::exchange(drafters_changed, false)) return;
  for (auto& [id, request] : requests) {
    if (request.phase == LiveRequest::Phase::waiting) continue;
    const Peer before = request.drafter;
    give_drafters(request);
    if (request.drafter == before) continue;
    ++counters.assigns;
    send(request.verifier, Assign{.sequence = sequence(request),
                                  .epoch = request.epoch,
                                  .version = ++request.assignment,
                                  .drafters = request.drafters,
                                  .tuning = config.tuning});
  }
}

}  // namespace slipstream
