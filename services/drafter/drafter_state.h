// The inside of the drafter's actor. Events are taken in drafter.cpp (routers, time), verifiers.cpp
// (who asks) and advances.cpp (what they ask, and the answers); after each event keep_time, the
// queue, the alarm and count run once. Nobody else includes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/limits.h"
#include "common/worker/worker.h"
#include "services/drafter/draft_queue.h"
#include "services/drafter/drafter.h"
#include "services/drafter/sequences.h"
#include "services/drafter/verifier_peers.h"

namespace slipstream {

struct Drafter::State {
  using Effects = std::vector<Effect>;

  explicit State(DrafterConfig given);

  // Events.
  void take(const WorkerEvent auto& event, Time now, Effects& effects) { worker.take(event, now, effects); }  // but these:
  void take(const PeerDown& event, Time now, Effects& effects);
  void take(const From<Drain>& event, Time now, Effects& effects);
  void take(const Malformed& event, Time now, Effects& effects);
  void take(const From<Attach>& event, Time now, Effects& effects);
  void take(From<Advance> event, Time now, Effects& effects);
  void take(const From<Release>& event, Time now, Effects& effects);
  void take(const From<Unknown>&, Time, Effects&) { ++counters.unknown_tags; }
  void take(Ran<DraftPlan, Drafts> event, Time now, Effects& effects);

  // After each event.
  void keep_time(Time now, Effects& effects);
  void count();

  VerifierPeer* meet(Peer peer, Time now);           // null: quarantined, or a router
  VerifierPeer* meet_attached(Peer peer, Time now);  // null besides: has not attached
  Attached introduction(std::string refusal) const;
  void strike(Peer peer, VerifierPeer& from, Effects& effects, const std::string& why);
  bool possible(const Advance& advance) const;
  bool has_room(const HeldSequence* held, const Advance& advance) const;
  void apply(const DraftKey& key, Advance advance, Fit fit, Time now);
  void resync(const DraftKey& key, const Advance& advance, int32_t held, Effects& effects);
  void send_empty(Peer peer, const Advance& advance, NoNodes reason, Effects& effects);
  void answer(const DraftAsk& ask, Tree answer, const Draft* draft, uint32_t draft_us, Effects& effects);
  bool erase(const DraftKey& key);  // from the method, too
  void free(const std::vector<DraftKey>& keys);
  void overtake(const DraftKey& key);  // a newer round: what was asked before is not worth drafting

  DrafterConfig config;
  DrafterCounters counters;
  Worker worker;
  VerifierPeers verifiers;
  Sequences sequences;
  Time next_sweep{};

  DraftQueue queue;
};

}  // namespace slipstream
