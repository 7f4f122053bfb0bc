// The state of the drafter's actor. Only the three files that implement it include this header.
//
//   drafter.cpp      events of routers, time, and Drafter::on(), which runs after each event:
//                    keep_time(), queue.start(), worker.set_alarm(), count()
//   verifiers.cpp    which peers may ask: Attach, strikes, quarantine
//   advances.cpp     what they ask, and the answers
//
// Invariants between events:
//   1. Once the job in flight and the operations in `queue` are performed, the method has exactly
//      the sequences of `sequences`, each with the same tokens.
//   2. Each ask in `queue` is for the newest applied round of a held sequence.
#pragma once

#include <optional>
#include <string>
#include <utility>
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

  // Events. All WorkerEvents go to `worker`; PeerDown and Drain have more to do here.
  void on(const WorkerEvent auto& event, Time now, Effects& effects) { worker.on(event, now, effects); }
  void on(const PeerDown& event, Time now, Effects& effects);
  void on(const From<Drain>& event, Time now, Effects& effects);
  void on(const Malformed& event, Time now, Effects& effects);
  void on(const From<Attach>& event, Time now, Effects& effects);
  void on(From<Advance> event, Time now, Effects& effects);
  void on(const From<Release>& event, Time now, Effects& effects);
  void on(const From<Unknown>&, Time, Effects&) { ++counters.unknown_tags; }
  void on(Ran<DraftPlan, Drafts> event, Time now, Effects& effects);

  // After each event.
  void keep_time(Time now, Effects& effects);  // heartbeats; frees sequences that were silent for their lease
  void count();                                // sets the gauges

  // Verifiers (verifiers.cpp).
  VerifierPeer* meet(Peer peer, Time now);           // notes that it was heard; null: quarantined, or a router
  VerifierPeer* meet_attached(Peer peer, Time now);  // the same; null also if it has not attached
  Attached introduction(std::string refusal) const;  // refusal: empty if this drafter drafts for it
  // Counts a strike; at kStrikesMax the peer is quarantined, disconnected and its sequences are
  // freed.
  void strike(Peer peer, VerifierPeer& from, Effects& effects, const std::string& why);

  // Advances (advances.cpp).
  bool possible(const Advance& advance) const;  // tokens in the vocabulary, length within the context limit, features
  bool has_features(const Advance& advance) const;
  bool has_room(const HeldSequence* held, const Advance& advance) const;
  void apply(const DraftKey& key, Advance advance, Fit fit, Time now);  // REQUIRES: fit is begin or extend
  void resync(const DraftKey& key, const Advance& advance, int32_t held, Effects& effects);
  // Answers with a Tree without nodes, if the Advance asked for one.
  void send_empty(Peer peer, const Advance& advance, NoNodes reason, Effects& effects);
  // Answers an ask of a job that has ended. draft: null if the job failed.
  void answer(const DraftAsk& ask, Tree answer, const Draft* draft, uint32_t draft_us, Effects& effects);
  void count_levels(const Drafts& drafts);
  void tell_traces(Time now, Effects& effects);  // the spans of the sequences that the event has ended
  bool erase(const DraftKey& key);               // frees a sequence, also in the method; false: not held
  void free(const std::vector<DraftKey>& keys);  // the same for several, and counts them
  void overtake(const DraftKey& key);            // withdraws the ask of an older round, if there is one

  DrafterConfig config;  // constant after construction
  DrafterCounters counters;
  Worker worker;
  VerifierPeers verifiers;
  Sequences sequences;
  std::vector<std::pair<DraftKey, HeldSequence>> ended;  // by the event at hand, of those that are traced
  Time next_sweep{};                                     // when keep_time() looks for silent sequences again

  DraftQueue queue;  // the next job, and whether one is in flight
};

}  // namespace slipstream
