// Chooses who drafts for a request, and the acceptance rule that these drafters allow. Which
// verifier a request starts at is the choice of placement.h; assign.cpp tells the verifier. Pure.
//
// A request has a first drafter, which does its work, and others as fallbacks. They may change
// while it runs, and only its speed depends on them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "services/router/live_request.h"
#include "services/router/router_config.h"
#include "services/router/workers.h"

namespace slipstream {

// Returns the drafters that take work and that `fits` admits, at most kDraftersPerSequenceMax. The
// order is by the fewest live sequences of this router, then `now`, then the fewest sequences of
// all routers, then the lowest peer.
using DrafterFits = std::function<bool(Peer, const KnownWorker&)>;
std::vector<Peer> pick_drafters(const Workers& workers, Peer now, const DrafterFits& fits);

class DrafterChoice {
 public:
  // keys: the name of the key of each connected peer that has one. All three outlive this object.
  DrafterChoice(const RouterConfig& config, const Workers& workers, const std::map<Peer, std::string>& keys)
      : config_(config), workers_(workers), keys_(keys) {}

  // Those that may draft for the request under this rule, the first one first. A sampled rule
  // admits trusted drafters only. now_drafts: the first drafter at present; id 0: none.
  std::vector<Peer> drafters_for(const LiveRequest& request, const Acceptance& acceptance, Peer now_drafts) const;
  // The rule of the request's next epoch.
  RuleChoice rule_for(const LiveRequest& request) const;

 private:
  bool trusts(Peer drafter) const;
  RuleReason why_not_sampled(const LiveRequest& request) const;

  const RouterConfig& config_;
  const Workers& workers_;
  const std::map<Peer, std::string>& keys_;
};

}  // namespace slipstream
