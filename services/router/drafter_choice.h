// Chooses who drafts for a request, and the acceptance rule that these drafters allow. Which
// verifier a request starts at is the choice of placement.h; assign.cpp tells the verifier. Pure.
//
// A request has a first drafter, which does its work, and others as fallbacks. They may change
// while it runs, and only its speed depends on them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/router/live_request.h"
#include "services/router/prefix_memory.h"
#include "services/router/router_config.h"
#include "services/router/workers.h"

namespace slipstream {

// A drafter that gains less than this is worth as much as one that gains this: the next in line for
// new work all the same, when all others are busy.
inline constexpr double kDrafterGainLeast = 0.01;  // tokens
// The drafter that a request has, and one that holds the beginning of its prompt, are worth so much
// more, since another one computes the whole prompt first.
inline constexpr double kWarmWorth = 1.25;

// Whether this drafter may draft for the request.
using DrafterFits = std::function<bool(Peer, const KnownWorker&)>;

// Returns the drafters that take work and that `fits` admits, at most kDraftersPerSequenceMax,
// those that are worth most first:
//
//   worth = gain / (1 + sequences that it drafts for)      [kWarmWorth if `warm`]
//
//   gain       tokens that an ask of it wins under this rule, as verifiers report
//   sequences  of this router now, and of others as its newest heartbeat says: with fifty routers
//              that each count their own only, all would crowd at the drafters that are known well
//
// Of equals the one with the fewest sequences of all routers comes first, then the lowest peer.
std::vector<Peer> pick_drafters(const Workers& workers, Rule rule, const std::set<Peer>& warm, const DrafterFits& fits);

class DrafterChoice {
 public:
  // keys: the name of the key of each connected peer that has one. All three outlive this object.
  DrafterChoice(const RouterConfig& config, const Workers& workers, const std::map<Peer, std::string>& keys)
      : config_(config), workers_(workers), keys_(keys) {}

  // Those that may draft for the request under this rule, the first one first. A sampled rule
  // admits trusted drafters only. now_drafts: the first drafter at present; id 0: none.
  std::vector<Peer> drafters_for(const LiveRequest& request, const Acceptance& acceptance, Peer now_drafts = {}) const;
  // This drafter was given the request first, and will hold its prompt.
  void remember(const LiveRequest& request, Peer drafter) { memory_.remember(request.prefixes, drafter); }
  void forget(Peer drafter) { memory_.forget(drafter); }
  // The rule of the request's next epoch.
  RuleChoice rule_for(const LiveRequest& request) const;

 private:
  bool trusts(Peer drafter) const;
  bool verifiers_sample() const;
  RuleReason why_not_sampled(const LiveRequest& request) const;

  const RouterConfig& config_;
  const Workers& workers_;
  const std::map<Peer, std::string>& keys_;
  PrefixMemory memory_;  // of the prompts that drafters hold
};

}  // namespace slipstream
