// The drafters' side of a verifier: links to them, and the rounds of drafting that run over those
// links. A round begins when a sequence's tokens grow (Advance), and ends when a step verifies what
// came (Tree) or goes on without. No drafter can change a token or hold a step past the round's
// deadline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/verifier/counters.h"
#include "services/verifier/events.h"
#include "services/verifier/sequence.h"

namespace slipstream {

inline constexpr int kDrafterLinksMax = 64;
inline constexpr int32_t kPrefillTokens = 32;  // from so many on that are new to it, a drafter learns first
inline constexpr Time kPrefillWait =
    std::chrono::milliseconds(1);  // for the tree of such a round: look-up is as quick, a model not
inline constexpr Time kAttachInterval = std::chrono::milliseconds(500);  // an unanswered Attach is sent again; doubling
inline constexpr Time kAttachIntervalMost = std::chrono::seconds(8);

struct DrafterLink {
  Peer peer;
  std::string endpoint;
  bool up = false;
  bool asked = false;  // an Attach is unanswered
  Time ask_at{};       // then: when it is sent again
  Backoff asks{kAttachInterval, kAttachIntervalMost};
  bool attached = false;        // checked each other, and up
  bool quarantined = false;     // kStrikesMax malformed messages: cut, and never asked again
  Incarnation incarnation = 0;  // as of the last Attached
  Time answers_in{};            // from Advance to Tree, a mean that follows; 0: none came yet
  int strikes = 0;
};

class Drafting {
 public:
  // Link peers are numbered from first_peer on.
  Drafting(const VerifierConfig& config, VerifierCounters& counters, uint64_t first_peer)
      : config_(config), counters_(counters), next_peer_(first_peer) {}

  using Sequences = std::vector<std::unique_ptr<VerifierSequence>>;
  using Effects = std::vector<VerifierEffect>;

  // Opens links to the sequence's drafters; closes those that are down and that no sequence names.
  void introduce(const VerifierSequence& sequence, const Sequences& sequences, Effects& effects);
  // The sequence's drafters have changed.
  void reassign(VerifierSequence& sequence, const Sequences& sequences, Effects& effects);
  bool owns(Peer peer) const;

  void up(Peer peer, Time now, Effects& effects);
  void down(Peer peer, Effects& effects);
  void attached(const From<Attached>& event, Sequences& sequences, Time now, Effects& effects);
  void strike(Peer peer, Effects& effects);  // a malformed message or an impossible tree

  void keep(Time now, Effects& effects);  // asks again where an Attach is unanswered
  std::optional<Time> next() const;       // when that is due
  size_t unanswered() const;              // Attaches

  // Starts the sequence's next round: asks for a tree if the guard wants one and a drafter is
  // there.
  void begin_round(VerifierSequence& sequence, Time now, Effects& effects);
  // A step of the sequence settled: what its draft was worth, for the backoff.
  void settled(VerifierSequence& sequence, int verified_nodes, int accepted_nodes);
  // This round's tree is still to come, and may.
  bool waits(const VerifierSequence& sequence, Time now) const;
  // sequence: the one the message names, or nullptr if there is none of that id and epoch.
  void tree(From<Tree> event, VerifierSequence* sequence, Time now, Effects& effects);
  // How much longer this round's tree will likely take; 0: any moment, or nobody knows.
  Time expected(const VerifierSequence& sequence, Time now) const;
  void resync(Peer peer, const Resync& message, VerifierSequence* sequence, Effects& effects);
  // The sequence ends or loses its cache of drafts: whatever is held becomes stale, and its drafter
  // may forget it.
  void release(VerifierSequence& sequence, Effects& effects);

 private:
  DrafterLink* find(Peer peer);
  const DrafterLink* find(Peer peer) const { return const_cast<Drafting*>(this)->find(peer); }
  DrafterLink* find(const DrafterRef& ref);
  void ask(DrafterLink& link, Time now, Effects& effects);
  DrafterLink* pick(VerifierSequence& sequence, Effects& effects);
  void leave(VerifierSequence& sequence, Effects& effects);
  void pass_on(VerifierSequence& sequence);
  void advance(VerifierSequence& sequence, Effects& effects);
  void drop(VerifierSequence& sequence, size_t nodes, uint32_t SpeculationReport::* fate, uint64_t VerifierCounters::* total);
  void measure(const Tree& message, const VerifierSequence& sequence, Time now);
  void unpark(VerifierSequence& sequence, bool wanted);

  const VerifierConfig& config_;
  VerifierCounters& counters_;
  uint64_t next_peer_;
  std::vector<DrafterLink> links_;
};

}  // namespace slipstream
