#include "services/router/drafter_choice.h"

#include <algorithm>
#include <tuple>

#include "common/base/limits.h"
#include "common/messages/rules.h"
#include "services/router/placement.h"

namespace slipstream {

std::vector<Peer> pick_drafters(const Workers& workers, Rule rule, const std::set<Peer>& warm, const DrafterFits& fits) {
  std::vector<std::tuple<double, uint32_t, Peer>> ready;
  for (const auto& [peer, worker] : workers.all()) {
    if (worker.hello.role != Role::drafter || !worker.takes_work() || !fits(peer, worker)) continue;
    const double worth = std::max(worker.gain(rule), kDrafterGainLeast) / (1 + worker.assigned + worker.others);
    ready.emplace_back(-worth * (warm.contains(peer) ? kWarmWorth : 1), worker.load.sequences, peer);
  }
  std::ranges::sort(ready);
  if (ready.size() > kDraftersPerSequenceMax) ready.resize(kDraftersPerSequenceMax);
  std::vector<Peer> drafters;
  for (const auto& [worth, load, peer] : ready) drafters.push_back(peer);
  return drafters;
}

bool DrafterChoice::trusts(Peer drafter) const {
  const auto key = keys_.find(drafter);
  if (key == keys_.end()) return config_.trust_local;
  return std::ranges::find(config_.trusted, key->second) != config_.trusted.end();
}

std::vector<Peer> DrafterChoice::drafters_for(const LiveRequest& request, const Acceptance& acceptance, Peer now_drafts) const {
  if (!request.submit.speculation.enabled) return {};
  std::set<Peer> warm{now_drafts};
  for (const auto& [peer, tokens] : memory_.find(request.prefixes)) {
    if (tokens >= kAffinityTokensMin) warm.insert(peer);
  }
  return pick_drafters(workers_, acceptance.rule, warm, [&](Peer peer, const KnownWorker& worker) {
    const std::string& method = request.submit.speculation.drafter;
    const bool named = method.empty() || std::ranges::find(worker.hello.methods, method) != worker.hello.methods.end();
    return named && (!is_sampled(acceptance.rule) || trusts(peer));
  });
}

RuleChoice DrafterChoice::rule_for(const LiveRequest& request) const {
  const Speculation& asked = request.submit.speculation;
  const bool greedy = request.submit.spec.sampling.temperature == 0.0F;
  const Acceptance own{.rule = greedy ? Rule::greedy : Rule::coupled};
  if (is_sampled(asked.acceptance.rule) && !greedy) {
    const bool drafted = !drafters_for(request, asked.acceptance).empty() || (asked.enabled && verifiers_sample());
    if (!drafted) return {own, why_not_sampled(request)};
    return {asked.acceptance, RuleReason::as_asked};
  }
  // The words of coupled do not depend on who drafts. A client that named a method is told all the
  // same if no drafter has it.
  const bool named = !is_sampled(asked.acceptance.rule) && asked.enabled && !asked.drafter.empty();
  if (named && drafters_for(request, own).empty()) return {own, why_not_sampled(request)};
  return {own, greedy ? RuleReason::temperature_zero : RuleReason::as_asked};
}

// Whether every verifier's own head samples trees, whoever is named: nobody knows yet which of them
// gets the request.
bool DrafterChoice::verifiers_sample() const {
  bool samples = false;
  for (const auto& [peer, worker] : workers_.all()) {
    if (worker.hello.role != Role::verifier || !worker.takes_work()) continue;
    if (!worker.hello.samples_trees) return false;
    samples = true;
  }
  return samples;
}

// REQUIRES: no drafter fits. Says why: there is none, none has the method that the request names,
// or none of those that have it is trusted.
RuleReason DrafterChoice::why_not_sampled(const LiveRequest& request) const {
  if (!drafters_for(request, {.rule = Rule::coupled}).empty()) return RuleReason::no_trusted_drafter;
  const auto drafts = [](const auto& entry) { return entry.second.hello.role == Role::drafter && entry.second.takes_work(); };
  return std::ranges::any_of(workers_.all(), drafts) ? RuleReason::no_drafter_of_that_method : RuleReason::no_drafter;
}

}  // namespace slipstream
