// Who drafts for a live request. It has a first drafter, whose load it is, and others to fall back
// on; both may change while it runs (Assign), and nothing but its speed depends on them.
#include <algorithm>
#include <set>

#include "common/messages/rules.h"
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

bool Router::State::trusts(Peer drafter) const {
  const auto key = keys.find(drafter);
  return key == keys.end() ? config.trust_local : std::ranges::find(config.trusted, key->second) != config.trusted.end();
}

std::vector<Peer> Router::State::drafters_for(const LiveRequest& request, const Acceptance& acceptance, Peer now_drafts) const {
  if (!request.submit.speculation.enabled) return {};
  return pick_drafters(workers, now_drafts, [&](Peer peer, const Worker& worker) {
    const std::string& method = request.submit.speculation.drafter;
    const bool named = method.empty() || std::ranges::find(worker.hello.methods, method) != worker.hello.methods.end();
    return named && (!is_sampled(acceptance.rule) || trusts(peer));
  });
}

// The rule of the next epoch.
RuleChoice Router::State::rule_for(const LiveRequest& request) const {
  const Speculation& asked = request.submit.speculation;
  const bool greedy = request.submit.spec.sampling.temperature == 0.0F;
  const Acceptance own{.rule = greedy ? Rule::greedy : Rule::coupled};
  if (is_sampled(asked.acceptance.rule) && !greedy) {
    if (drafters_for(request, asked.acceptance, {}).empty()) return {own, why_not_sampled(request)};
    return {asked.acceptance, RuleReason::as_asked};
  }
  // Under coupled the words do not depend on who drafts, but a client that named who shall learns
  // that nobody does.
  const bool named = !is_sampled(asked.acceptance.rule) && asked.enabled && !asked.drafter.empty();
  if (named && drafters_for(request, own, {}).empty()) return {own, why_not_sampled(request)};
  return {own, greedy ? RuleReason::temperature_zero : RuleReason::as_asked};
}

// Nobody may draw for it: does nobody draft at all, or not by the method that it names, or is
// nobody believed?
RuleReason Router::State::why_not_sampled(const LiveRequest& request) const {
  if (!drafters_for(request, {.rule = Rule::coupled}, {}).empty()) return RuleReason::no_trusted_drafter;
  const auto drafts = [](const auto& entry) { return entry.second.hello.role == Role::drafter && entry.second.takes_work(); };
  return std::ranges::any_of(workers.all(), drafts) ? RuleReason::no_drafter_of_that_method : RuleReason::no_drafter;
}

void Router::State::count_rule(const LiveRequest& request) {
  if (!request.submit.speculation.enabled) {
    ++counters.rules.plain;
    return;
  }
  const auto asked = std::ranges::find(kRuleNames, name_of(request.submit.speculation.acceptance)) - kRuleNames.begin();
  const bool greedy = request.rule.ran.rule == Rule::greedy;  // whoever drafts
  const RuleReason reason = greedy ? RuleReason::temperature_zero : request.rule.reason;
  ++counters.rules.asked.at(static_cast<size_t>(asked)).at(static_cast<size_t>(reason));
}

Tuning Router::State::tuning_for(const LiveRequest& request) const {
  Tuning tuning = config.tuning;
  tuning.nodes_max = std::min(tuning.nodes_max, request.submit.speculation.nodes_max);
  tuning.depth_max = std::min(tuning.depth_max, request.submit.speculation.depth_max);
  return tuning;
}

// And counts it with the first of them.
void Router::State::give_drafters(LiveRequest& request) {
  const Peer before = request.drafter;
  take_drafters(request);
  for (Peer peer : drafters_for(request, request.rule.ran, before)) {
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

// Drafters came or went: every request hears whom it may fall back on; those that had none or whose
// first is gone, and some of those whose first is busier than another, get another first.
void Router::State::check_drafters() {
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
                                .tuning = tuning_for(request)});
}

}  // namespace slipstream
