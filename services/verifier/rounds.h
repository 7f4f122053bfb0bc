// The rounds of drafting. A round begins when a sequence's tokens grow (an Advance asks its
// drafters for trees), and ends when a step verifies the trees that came, or goes on without any.
// No drafter can change a token, or hold a step past the round's deadline. Pure; part of the
// verifier's actor.
//
//   rounds.cpp          a round: asked, answered, ended
//   told_drafters.cpp   what its drafters are told: tokens and features
//   who_drafts.cpp      which drafters a sequence has, and which of them leads
//   draft_sources.cpp   the trees of a round's sources: merged, and learnt from
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "services/verifier/drafter_links.h"
#include "services/verifier/grammar_draft.h"
#include "services/verifier/resident.h"
#include "services/verifier/resident_head.h"
#include "services/verifier/sequence.h"
#include "services/verifier/tree_reports.h"

namespace slipstream {

// A drafter that lacks this many tokens or more prefills first: its tree is hardly waited for, and
// is no failure when late.
inline constexpr int32_t kPrefillTokens = 32;
inline constexpr Time kPrefillWait = std::chrono::milliseconds(1);  // look-up is as quick, a model is not

// A step waits for the tree of a drafter beside the lead no longer than so many of the times that
// it takes on average, from its Advance on.
inline constexpr int kOverdueAnswers = 2;

// A sequence is new for so many rounds: a drafter that brings little may be tried for it
// (drafter_links.h).
inline constexpr Round kBeginsRounds = 32;
// A sequence leaves its lead for a drafter that won so many tokens more an ask, since the other
// begins with the whole prompt: this many, and this share of what its own wins.
inline constexpr double kBetterTokens = 0.2;
inline constexpr double kBetterShare = 0.25;
// Until the next sequence leaves its lead for the same drafter, which may be better because it has
// little to do.
inline constexpr Time kBetweenChoices = std::chrono::milliseconds(250);

// What a tree that arrives is to its sequence. The order of the checks is that of the table in
// docs/design/WIRE.md, section 6.
enum class Arrival : uint8_t {
  fresh,  // this round's tree, in time
  ahead,  // it has a longer base than the sequence: a commit may reach it. No drafter of ours sends trees ahead yet
  late,   // the tree's round is an older one, or the root is in a step already
  // A later round, a shorter base or another hash; a tree that was not asked for, or a second one
  // of its round; under a rule of the ratio family also a longer base.
  stale
};
// Compares round, base length and hash with those of `sequence`. ask: of the drafter that sent the
// tree. REQUIRES: the sequence is running, of the tree's epoch, and the drafter is one of its own;
// Rounds::tree() drops all other trees first.
Arrival classify(const Fence& fence, const VerifierSequence& sequence, const TreeAsk& ask);

// What a step made of a round's tree.
struct VerifiedTree {
  const TokenTree& tree;             // perhaps cut
  std::span<const int32_t> path;     // the nodes that were accepted
  std::span<const TokenId> choices;  // [nodes + 1] the target's choice after each row; empty under a rule of the ratio family
};

struct AwaitedTree {
  bool leads = false;
  KindIndex kind = 0;
  Time in{};        // until it will likely come
  Time ends{};      // when nobody waits for it any more
  double gain = 0;  // tokens that it will likely win
};

class Rounds {
 public:
  using Effects = std::vector<VerifierEffect>;

  Rounds(const VerifierConfig& config, VerifierCounters& counters, DrafterLinks& links, Resident& resident, ResidentHead& head)
      : config_(config), counters_(counters), links_(links), resident_(resident), head_(head) {}

  // Starts the sequence's next round: its grammar and the resident method draft, and each drafter
  // that is there is asked for a tree if its back-off allows one.
  void begin(VerifierSequence& sequence, Time now, Effects& effects);
  // Sends drafters that read features those that are known, ahead of the ask: a step has computed a
  // part of the prompt, or read a part of what a drafter lacks.
  void feed(VerifierSequence& sequence, Effects& effects);
  // A step has verified the round's tree, or gone on without one: what that was worth changes the
  // back-offs and the lead, and what became of each node changes what the survivals of those mean
  // who guessed it. The next Advance to each drafter tells it the verdicts on its tree.
  void end(VerifierSequence& sequence, const VerifiedTree& verified, Time now);
  // What the sources of the running round's draft guessed, in the order of credit (Own), for a
  // report. Call it before end(), which changes what survivals mean.
  std::vector<Proposal> proposals(VerifierSequence& sequence);

  // The draft head, once in a round, when all sources that need no wait have guessed: how large a
  // tree it may draft; nullopt: it is not asked.
  std::optional<StopRule> ask_head(VerifierSequence& sequence, double step_seconds);
  // Its tree for the running round.
  void head_tree(VerifierSequence& sequence, DraftTree tree);
  // Nobody else drafts for the sequence: the head samples its trees.
  bool head_samples(const VerifierSequence& sequence) const {
    return head_.drafts() && is_sampled(sequence.spec.acceptance.rule);
  }

  // The nodes of the tree that the sequence holds which are verified whatever they seem worth.
  std::vector<int32_t> probes(const VerifierSequence& sequence) const;
  // The nodes that the sequence asks for next should gain at least this many tokens.
  void set_price(VerifierSequence& sequence, float price);
  double row_price() const { return row_price_; }  // of the last step, in tokens

  // The trees of this round that a step may wait for: they are still to come, and may be in time.
  std::vector<AwaitedTree> awaited(const VerifierSequence& sequence, Time now) const;
  // How much longer that drafter's tree will likely take; 0: any moment, or nobody knows.
  Time expected_in(const VerifierSequence& sequence, const SequenceDrafter& drafter, Time now) const;

  // sequence: the one that the message names; null: there is none of that id and epoch.
  void tree(From<Tree> event, VerifierSequence* sequence, Time now, Effects& effects);
  void resync(Peer peer, const Resync& message, VerifierSequence* sequence, Effects& effects);
  // The router named other drafters.
  void reassign(VerifierSequence& sequence, Effects& effects);
  // The drafter lost what it held of the sequence.
  static void forget_drafter_state(VerifierSequence& sequence, Peer drafter);
  // The sequence ends: nodes that are held become stale, and its drafters may forget it.
  void release(VerifierSequence& sequence, Effects& effects);

 private:
  // The nodes that are credited to one source: those that it guessed and no source before it did,
  // in the order of the grammar, the resident method, the head, the lead, the others.
  struct Own {
    int verified = 0, accepted = 0;
    bool seen = false;  // a node of it was verified, whoever is credited
  };

  // rounds.cpp
  DrafterLink* link_of_little(const VerifierSequence& sequence, const SequenceDrafter& drafter) const;
  static bool may_try(const DrafterLink& link, const VerifierSequence& sequence);
  RoundAsk why_rests(const VerifierSequence& sequence, const SequenceDrafter& drafter) const;
  RoundAsk why_not_asked(const VerifierSequence& sequence, const SequenceDrafter& drafter) const;
  Tuning asked_tuning(const VerifierSequence& sequence, const SequenceDrafter& drafter) const;
  int depth_left(const VerifierSequence& sequence) const { return depth_left(sequence, sequence.context.size()); }
  int depth_left(const VerifierSequence& sequence, int32_t base_length) const;
  int depth_of(const VerifierSequence& sequence, const SequenceDrafter& drafter, int32_t base_length) const;
  bool due_for_probe(const VerifierSequence& sequence, const SequenceDrafter& drafter) const;
  void probe_if_due(const VerifierSequence& sequence, SequenceDrafter& drafter);
  void ask(VerifierSequence& sequence, SequenceDrafter& drafter, Time now, Effects& effects);
  bool has_features(const VerifierSequence& sequence, const SequenceDrafter& drafter) const;
  bool awaits_features(const VerifierSequence& sequence, const SequenceDrafter& drafter) const;
  void keep_features(VerifierSequence& sequence) const;
  void advance(VerifierSequence& sequence, SequenceDrafter& drafter, int32_t end, Effects& effects);
  static void settle(VerifierSequence& sequence, const ParkedTree& parked, Fate fate);
  void park(VerifierSequence& sequence, SequenceDrafter& drafter, const Fence& fence, KindIndex kind, DraftTree tree);
  void unpark(VerifierSequence& sequence, SequenceDrafter& drafter, bool wanted);
  void count_probe(const VerifierSequence& sequence, const SequenceDrafter& drafter, const Own& own);
  void end_ask(VerifierSequence& sequence, SequenceDrafter& drafter, const Own& own, Time now);

  // who_drafts.cpp
  void pick(VerifierSequence& sequence, Time now, Effects& effects);
  DrafterLink* pick_lead(const VerifierSequence& sequence, Time now);
  void lead_with(VerifierSequence& sequence, DrafterLink& link, Time now, Effects& effects);
  void add_others(VerifierSequence& sequence, Time now);
  void tune(SequenceDrafting& drafting) const;
  void leave(VerifierSequence& sequence, Peer drafter, Effects& effects);
  template <class Leaves>
  void leave_if(VerifierSequence& sequence, Effects& effects, const Leaves& leaves);
  void pass_on(VerifierSequence& sequence, Time now);

  // draft_sources.cpp
  Calibration* calibration_of(const VerifierSequence& sequence, Peer drafter) const;
  Calibration* calibration_of(const VerifierSequence& sequence, const DraftSource& source);
  KindIndex index_of(const DraftKind& kind) const;
  DraftKindCounters& counters_of(KindIndex kind) const { return counters_.draft_kinds[kind]; }
  DraftKindCounters& counters_of(const DraftKind& kind) const { return counters_of(index_of(kind)); }
  void draft_by_grammar(VerifierSequence& sequence);
  StopRule rule_here(const VerifierSequence& sequence, float threshold) const;
  void draft_here(VerifierSequence& sequence);
  bool asks_head(VerifierSequence& sequence, bool pays);
  std::optional<StopRule> ask_head_to_sample(VerifierSequence& sequence, double step_seconds);
  void merge_in(VerifierSequence& sequence, DraftSource source);
  static void sort_sources(SequenceDrafting& drafting);
  std::vector<Own> learn(VerifierSequence& sequence, const VerifiedTree& verified, Time now);
  void count_gain(const VerifierSequence& sequence, const DraftSource& source, const Own& own, Time now);
  void end_head(VerifierSequence& sequence, const Own& own);
  static void keep_verdicts(SequenceDrafting& drafting, const VerifiedTree& verified);

  const VerifierConfig& config_;
  VerifierCounters& counters_;
  DrafterLinks& links_;
  Resident& resident_;
  ResidentHead& head_;
  GrammarDraft grammar_;
  double row_price_ = 0;
  std::array<ByRule<DrafterWorth>, static_cast<size_t>(DraftBy::drafter)> gains_;  // [DraftBy] of what drafts here, for metrics
};

}  // namespace slipstream
