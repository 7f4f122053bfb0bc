// What the router does about a request when time has passed: it says again what may be lost, and
// ends what has waited too long (docs/design/TIMES.md).
#include <algorithm>
#include <utility>

#include "services/router/router_state.h"

namespace slipstream {

void Router::State::check_requests(Time now, Effects& effects) {
  for (RequestId id : request_ids()) {
    if (const auto at = requests.find(id); at != requests.end()) check(at->second, now, effects);
  }
}

void Router::State::check(LiveRequest& request, Time now, Effects& effects) {
  if (request.told && now - *request.told >= ms(config.still_here_ms)) still_here(request, now, effects);
  if (request.waits()) return check_waiting(request, now, effects);
  AtVerifier& at = request.at_verifier();
  const auto* starting = std::get_if<Starting>(&request.phase);
  if (starting != nullptr && now - starting->first_sent >= ms(std::min(config.start_give_up_ms, config.lease_ms))) {
    cancel(request, effects);
    request.refused_by = at.verifier;
    return to_waiting(request, {.since = starting->waiting_since, .no_verifier_since = now});
  }
  if (starting == nullptr && now - request.token_awaited_since() >= ms(config.no_token_ms)) {
    ++counters.failed;
    cancel(request, effects);
    Failure failure{.code = "no_token", .message = "The verifier has sent no token for too long."};
    return fail(request, std::move(failure), now, effects);
  }
  if (at.ack_owed) acknowledge(request, {}, now, effects);
  if (at.assignment > 0 && now - at.assign_sent >= ms(config.assign_repeat_ms)) send_assign(request, now, effects);
  if (now < at.repeat_at) return;
  at.repeat_at = now + at.repeats.next();
  // A request that runs gets no Start again. A verifier that has freed the sequence would begin it
  // a second time in the same epoch, with the noise of rounds that were there before. An Ack asks
  // the verifier whether it has the sequence.
  if (request.runs()) {
    ++counters.quiet;
    return send(at.verifier, Ack{sequence(request), request.epoch, request.received.next_index(), false}, effects);
  }
  ++counters.starts_repeated;
  send_start(request, effects);
}

void Router::State::check_waiting(LiveRequest& request, Time now, Effects& effects) {
  const auto serves = [&request](const auto& entry) { return can_serve(entry.second, request); };
  if (std::ranges::any_of(workers.all(), serves)) std::get<Waiting>(request.phase).no_verifier_since = now;
  if (auto failure = admission.expire(request, workers, now)) {
    ++counters.waited_too_long;
    return fail(request, *std::move(failure), now, effects);
  }
  // A stream that has begun can no longer end with a status. Until then the request may fail for
  // want of a verifier; from then on it only waits for one that has room.
  const Time settled = std::get<Waiting>(request.phase).since + ms(config.verifier_wait_ms) + ms(config.still_here_ms);
  if (!request.told && now >= settled) still_here(request, now, effects);
}

}  // namespace slipstream
