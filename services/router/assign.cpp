// Gives live requests their drafters, counts them, and tells verifiers (Start, Assign) who drafts.
#include <algorithm>
#include <set>

#include "common/messages/rules.h"
#include "services/router/router_state.h"

namespace slipstream {
namespace {

std::set<Incarnation> incarnations(const std::vector<DrafterRef>& drafters) {
  std::set<Incarnation> incarnations;
  for (const DrafterRef& drafter : drafters) incarnations.insert(drafter.incarnation);
  return incarnations;
}

}  // namespace

void Router::State::count_rule(const LiveRequest& request) {
  if (!request.submit.speculation.enabled) {
    ++counters.rules.plain;
    return;
  }
  const RuleChoice& rule = request.at_verifier().rule;
  const auto asked = std::ranges::find(kRuleNames, name_of(request.submit.speculation.acceptance)) - kRuleNames.begin();
  const bool greedy = rule.ran.rule == Rule::greedy;  // temperature 0 is the reason, whoever drafts
  const RuleReason reason = greedy ? RuleReason::temperature_zero : rule.reason;
  ++counters.rules.asked.at(static_cast<size_t>(asked)).at(static_cast<size_t>(reason));
}

// REQUIRES: the request is at a verifier. Its first drafter counts it as assigned.
void Router::State::give_drafters(LiveRequest& request) {
  AtVerifier& at = request.at_verifier();
  const Peer before = at.drafter;
  take_drafters(request);
  for (Peer peer : drafter_choice.drafters_for(request, at.rule.ran, before)) {
    KnownWorker& worker = *workers.find(peer);
    if (at.drafters.empty()) {
      at.drafter = peer;
      drafter_choice.remember(request, peer);
      ++worker.assigned;
      loads_changed = true;
    }
    at.drafters.push_back(
        {.incarnation = worker.hello.incarnation, .endpoint = worker.hello.draft_endpoint, .tuning = tuning_of(worker)});
  }
}

// REQUIRES: the request is at a verifier.
void Router::State::take_drafters(LiveRequest& request) {
  AtVerifier& at = request.at_verifier();
  at.drafters.clear();
  if (KnownWorker* worker = workers.find(std::exchange(at.drafter, Peer{}))) {
    --worker->assigned;
    loads_changed = true;
  }
}

// After drafters came or went, each verifier is told which drafters its requests may fall back on.
// A request gets another first drafter if it had none, if its first is gone, or if another is worth
// more to it (drafter_choice.h).
void Router::State::check_drafters(Time now, Effects& effects) {
  if (!std::exchange(drafters_changed, false)) return;
  for (auto& [id, request] : requests) {
    if (request.waits()) continue;
    AtVerifier& at = request.at_verifier();
    const Peer first = at.drafter;
    std::vector<DrafterRef> before = at.drafters;
    give_drafters(request);
    if (at.drafter == first && incarnations(at.drafters) == incarnations(before)) {
      at.drafters = std::move(before);  // the order of fallbacks is no news, and retune.cpp tells of new tunings
      continue;
    }
    ++at.assignment;
    ++counters.assigns;
    send_assign(request, now, effects);
  }
}

void Router::State::send_assign(LiveRequest& request, Time now, Effects& effects) {
  AtVerifier& at = request.at_verifier();
  at.assign_sent = now;
  send(at.verifier,
       Assign{.sequence = sequence(request), .epoch = request.epoch, .version = at.assignment, .drafters = at.drafters},
       effects);
}

}  // namespace slipstream
