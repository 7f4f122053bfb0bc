// Who drafts for a live request. It has a first drafter, whose load it is, and others to fall back on; both may change while it
// runs (Assign), and nothing but its speed depends on them.
#include <set>

#include "services/router/assign.h"
#include "services/router/router_state.h"

namespace slipstream {
namespace {

std::set<Incarnation> incarnations(const std::vector<DrafterRef>& drafters) {
  std::set<Incarnation> incarnations;
  for (const DrafterRef& drafter : drafters) incarnations.insert(drafter.incarnation);
  return incarnations;
}

}  // namespace

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

// Drafters came or went: every request hears whom it may fall back on; those that had none or whose first is gone, and some of
// those whose first is busier than another, get another first.
void Router::State::look_at_drafters() {
  if (!std::exchange(drafters_changed, false)) return;
  for (auto& [id, request] : requests) {
    if (request.phase == LiveRequest::Phase::waiting) continue;
    const Peer first = request.drafter;
    const std::set<Incarnation> before = incarnations(request.drafters);
    give_drafters(request);
    if (request.drafter == first && incarnations(request.drafters) == before) continue;  // another order is no news
    ++request.assignment;
    ++counters.assigns;
    send_assign(request);
  }
}

void Router::State::send_assign(LiveRequest& request) {
  request.assign_sent = now;
  send(request.verifier, Assign{.sequence = sequence(request),
                                .epoch = request.epoch,
                                .version = request.assignment,
                                .drafters = request.drafters,
                                .tuning = config.tuning});
}

}  // namespace slipstream
