// The processes that speak to a drafter on the draft boundary: who passed the check, who
// misbehaved, who was heard when.
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "common/actor/actor.h"
#include "common/base/limits.h"

namespace slipstream {

inline constexpr size_t kVerifierPeersMax = 256;  // remembered; a newcomer takes the place of the one silent longest

struct VerifierPeer {
  bool attached = false;
  int strikes = 0;
  Time heard{};
  bool quarantined() const { return strikes >= kStrikesMax; }
};

class VerifierPeers {
 public:
  VerifierPeer* find(Peer peer) {
    const auto at = peers_.find(peer);
    return at == peers_.end() ? nullptr : &at->second;
  }

  // The entry of this peer, made if it is new. evicted: who was forgotten for it.
  VerifierPeer& meet(Peer peer, Time now, std::optional<Peer>& evicted) {
    if (peers_.size() >= kVerifierPeersMax && !peers_.contains(peer)) {
      const auto silent = std::ranges::min_element(peers_, {}, [](const auto& entry) { return entry.second.heard; });
      evicted = silent->first;
      peers_.erase(silent);
    }
    VerifierPeer& met = peers_[peer];
    met.heard = now;
    return met;
  }

  size_t attached() const {
    return static_cast<size_t>(std::ranges::count_if(peers_, [](const auto& entry) { return entry.second.attached; }));
  }

 private:
  std::map<Peer, VerifierPeer> peers_;
};

}  // namespace slipstream
