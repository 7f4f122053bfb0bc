// The rounds of drafting. A round begins when a sequence's tokens grow (an Advance asks its drafter
// for a tree), and ends when a step verifies the tree that came, or goes on without one. No drafter
// can change a token, or hold a step past the round's deadline. Pure; part of the verifier's actor.
// draft_sources.cpp has what concerns the sources of a draft, rounds.cpp the rest.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "services/verifier/drafter_links.h"
#include "services/verifier/resident.h"
#include "services/verifier/sequence.h"

namespace slipstream {

// A drafter that lacks this many tokens or more prefills first: its tree is hardly waited for, and
// is no failure when late.
inline constexpr int32_t kPrefillTokens = 32;
inline constexpr Time kPrefillWait = std::chrono::milliseconds(1);  // look-up is as quick, a model is not

// Beside a resident method, a drafter whose trees lately won fewer tokens than this is asked rarely
// by a new sequence, until a node that only it guessed is verified.
inline constexpr double kTreeGainLeast = 0.05;
// A sequence leaves its drafter for one that won so many tokens more an ask, since the other begins
// with the whole prompt: this many, and this share of what its own wins.
inline constexpr double kBetterTokens = 0.2;
inline constexpr double kBetterShare = 0.25;

// What a tree that arrives is to its sequence. The order of the checks is that of the table in
// docs/design/WIRE.md, section 6.
enum class Arrival : uint8_t {
  fresh,  // this round's tree, in time
  ahead,  // it has a longer base than the sequence: a commit may reach it. No drafter of ours sends trees ahead yet
  late,   // the sequence has finished, the tree's round is an older one, or the root is in a step already
  // A later round, a shorter base or another hash; a tree that was not asked for, or a second one
  // of its round; under a rule of the ratio family also a longer base.
  stale
};
// Compares round, base length and hash with those of `sequence`. Rounds::tree() has dropped a tree
// of another drafter before, and one whose sequence or epoch is unknown.
Arrival classify(const Fence& fence, const VerifierSequence& sequence);

class Rounds {
 public:
  using Effects = std::vector<VerifierEffect>;

  Rounds(const VerifierConfig& config, VerifierCounters& counters, DrafterLinks& links, Resident& resident)
      : config_(config), counters_(counters), links_(links), resident_(resident) {}

  // Starts the sequence's next round: the resident method drafts, and a drafter is asked for a tree
  // if the back-off allows one and it is there.
  void begin(VerifierSequence& sequence, Time now, Effects& effects);
  // A step has verified the round's tree, or gone on without one: what that was worth changes the
  // back-off and the drafter, and what became of each node changes what the survivals of those mean
  // who guessed it. A drafter is worth what nobody else guessed. path: the accepted nodes.
  void end(VerifierSequence& sequence, const TokenTree& verified, std::span<const int32_t> path);

  // The nodes of the tree that the sequence holds which are verified whatever they seem worth.
  std::vector<int32_t> probes(const VerifierSequence& sequence) const;
  // The nodes that the sequence asks for next should gain at least this many tokens.
  void set_price(VerifierSequence& sequence, float price) const;

  // True: this round's tree is still to come, and may be in time.
  bool waits(const VerifierSequence& sequence, Time now) const;
  // How much longer this round's tree will likely take; 0: any moment, or nobody knows.
  Time expected_in(const VerifierSequence& sequence, Time now) const;

  // sequence: the one that the message names; null: there is none of that id and epoch.
  void tree(From<Tree> event, VerifierSequence* sequence, Time now, Effects& effects);
  void resync(Peer peer, const Resync& message, VerifierSequence* sequence, Effects& effects);
  // The router named other drafters, or another tuning.
  void reassign(VerifierSequence& sequence, Effects& effects);
  // The drafter lost what it held of the sequence.
  void forget_drafter_state(VerifierSequence& sequence);
  // The sequence ends: nodes that are held become stale, and its drafter may forget it.
  void release(VerifierSequence& sequence, Effects& effects);

 private:
  // Nodes that one source alone had guessed.
  struct Own {
    int verified = 0, accepted = 0;
  };
  Calibration* calibration_of(const VerifierSequence& sequence, bool resident) const;
  int depth_left(const VerifierSequence& sequence) const;
  void draft_here(VerifierSequence& sequence);
  void merge_in(VerifierSequence& sequence, DraftSource source);
  Own learn(VerifierSequence& sequence, const TokenTree& verified, std::span<const int32_t> path);
  DrafterLink* pick(VerifierSequence& sequence, Effects& effects);
  void leave(VerifierSequence& sequence, Effects& effects);
  void pass_on(VerifierSequence& sequence);
  void advance(VerifierSequence& sequence, Effects& effects);
  void park(VerifierSequence& sequence, Tree message);
  void unpark(VerifierSequence& sequence, bool wanted);

  const VerifierConfig& config_;
  VerifierCounters& counters_;
  DrafterLinks& links_;
  Resident& resident_;
};

}  // namespace slipstream
