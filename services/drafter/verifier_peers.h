// The peers that a drafter has heard on the draft boundary: whether each is attached and its link
// is up, how often it misbehaved, and when it was last heard. Pure.
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "common/actor/actor.h"
#include "common/base/limits.h"

namespace slipstream {

inline constexpr size_t kVerifierPeersMax = 256;  // a new peer beyond these replaces the one that was silent longest

struct VerifierPeer {
  bool attached = false;  // its last Attach was not refused, and it is not quarantined
  bool linked = false;    // its link was not lost since it was last heard
  int strikes = 0;        // malformed or impossible messages
  Time heard{};           // when its last message arrived
  bool quarantined() const { return strikes >= kStrikesMax; }
};

class VerifierPeers {
 public:
  // Null: unknown. The pointer is valid until the peer is evicted.
  VerifierPeer* find(Peer peer) {
    const auto at = peers_.find(peer);
    return at == peers_.end() ? nullptr : &at->second;
  }

  // Returns the entry of this peer, which is added if it is new, and notes the time. If another
  // peer had to go to make room, `evicted` is set to it.
  VerifierPeer& meet(Peer peer, Time now, std::optional<Peer>& evicted) {
    if (peers_.size() >= kVerifierPeersMax && !peers_.contains(peer)) {
      const auto silent = std::ranges::min_element(peers_, {}, [](const auto& entry) { return entry.second.heard; });
      evicted = silent->first;
      peers_.erase(silent);
    }
    VerifierPeer& met = peers_[peer];
    met.heard = now;
    met.linked = true;
    return met;
  }

  // The number of attached peers whose link is up.
  size_t attached() const {
    const auto there = [](const auto& entry) { return entry.second.attached && entry.second.linked; };
    return static_cast<size_t>(std::ranges::count_if(peers_, there));
  }

 private:
  std::map<Peer, VerifierPeer> peers_;
};

}  // namespace slipstream
