// One sequence of a verifier, made of parts. sequences.cpp fills them at the Start. All files read
// them, and these write them:
//
//   identity, spec   constant
//   context          tokens and their place in the cache. gather.cpp reserves blocks (the cache may
//                    take another sequence's for that), settle.cpp commits the accepted path,
//                    step.cpp notes that a prompt's chunk is computed, sequences.cpp forgets the
//                    cache at the end
//   fates            what became of its draft nodes. rounds.cpp (arrivals, late, stale, invalid,
//                    merged), gather.cpp and schedule.cpp (trimmed), settle.cpp (accepted, rejected,
//                    unreached), step.cpp (stale if the step failed)
//   drafting         who drafts for it, and its running round. rounds.cpp; also sequences.cpp (what
//                    the router said), gather.cpp (takes draft.tree), schedule.cpp (prices; cuts
//                    draft.tree), step.cpp (rate), resident.cpp (what it holds)
//   output           what its tokens came with, and how it ended. settle.cpp; also gather.cpp
//                    (cached_tokens), step.cpp (a failed step), delivery.cpp (drops the logprobs
//                    that are acked)
//   delivery         what its router has. delivery.cpp; also verifier.cpp (the lease, and when to
//                    send again)
//   step             its share of the step in flight. gather.cpp, and step.cpp when the step ends
//
// Invariants between steps:
//   1. a sequence that decodes has context.prefill_rows() == 0: all but the root, the last token,
//      is in the cache;
//   2. output.drafted.size() == output.depths.size() == context.output().
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/prefix_hash.h"
#include "common/engine/cached_sequence.h"
#include "common/messages/draft.h"
#include "common/messages/generate.h"
#include "common/speculation/acceptance_rate.h"
#include "common/speculation/draft_backoff.h"
#include "common/speculation/rejection/draft_tree.h"
#include "services/verifier/fates.h"
#include "services/verifier/send_window.h"
#include "services/verifier/tree_timing.h"

namespace slipstream {

// A tree that was merged into a round's draft, as it was guessed.
struct DraftSource {
  bool resident = false;  // by the verifier's own method; else by the sequence's drafter
  TokenTree tree;
};

// One round's draft, from the Advance that asks for it to the step that verifies it.
struct DraftRound {
  bool asked = false;     // an Advance asked for a tree
  bool answered = false;  // it came, with or without nodes
  bool busy = false;      // the drafter would not draft: for the back-off as bad as too late
  bool prefills = false;  // the drafter has much to prefill first: hardly waited for, and no failure when late
  bool resynced = false;  // a Resync was answered: once a round is enough
  Time deadline{};        // if asked: when the step goes on without the tree
  bool late = false;      // it came, and later than the tuning allows
  int nodes_asked = 0;    // most nodes that the Advance asked for
  // What there is of it. Of a rule that samples the drafter's tree; else all sources merged, and a
  // node's survival is its calibrated chance to be accepted.
  DraftTree tree;
  std::vector<DraftSource> sources;
};

// A drafter that is of no use makes way for another, which begins with the whole prompt: after this
// many useless rounds in a row, twice as many the next time, until a guess is accepted.
inline constexpr int kPatienceFirst = 2;
inline constexpr int kPatienceMost = 64;
inline constexpr Round kPassedOnRounds = 64;  // without a turn for it, unless no other is there

inline constexpr double kTreeGainFirst = 1;          // before the first tree
inline constexpr double kTreeGainWeight = 1.0 / 16;  // of the newest tree

struct SequenceDrafting {
  // As the router last said.
  std::vector<DrafterRef> named;
  std::vector<DrafterRef> drafters;  // those; the first that is there begins; rotated when it proves useless
  Tuning tuning;
  uint32_t assignment = 0;  // version of the newest Assign

  // The running round.
  Round round = 0;
  Time round_began{};
  DraftRound draft;
  std::optional<Tree> parked;  // for a longer base than ours: held until a commit reaches it

  // The drafter.
  Peer drafter;        // id 0: none
  bool heard = false;  // a tree of it came
  Peer passed_on;      // the drafter that was useless last, which gets no turn until that round
  Round passed_on_until = 0;
  bool drafter_stays = false;     // as long as it is there; else the next round picks anew
  int useless = 0;                // rounds in a row that failed (draft_backoff.h); one that says it is busy counts for two
  int patience = kPatienceFirst;  // at this many useless rounds another one gets its chance
  int32_t drafter_holds = 0;      // tokens; drafter_prefix covers exactly those
  PrefixHash drafter_prefix;
  Round asked_round = 0;  // the newest that asked for a tree whose time says something
  Time asked_at{};        // and when
  DraftBackoff backoff;
  AcceptanceRate rate;                // for rules that keep their budget
  double tree_gain = kTreeGainFirst;  // tokens that a tree won lately which the resident's had not, on average
  float price = 0;                    // tokens that a node must gain to pay for itself, as of the last step
  float threshold = 1.0F;             // of what is asked for next: survivals that the price allows

  // The resident method.
  int32_t resident_holds = 0;   // tokens; 0: it does not know the sequence
  int resident_unverified = 0;  // steps since a node of its trees was verified

  int nodes_max() const { return std::min<int>(tuning.nodes_max, backoff.nodes_max()); }  // of a drafter's tree now
  // No node of that source was verified for so long that the next tree has one verified whatever it
  // seems worth.
  bool probes(bool resident) const { return resident ? resident_unverified >= kProbeGapSteps : backoff.probes(); }
};

struct SequenceOutput {
  std::vector<uint8_t> drafted;        // [output] 1: a drafter had guessed it
  std::vector<uint8_t> depths;         // [output] of the tree that its step verified; 0: none
  std::vector<TokenLogprob> logprobs;  // if asked for, from output index logprobs_from on: what is acked is dropped
  int32_t logprobs_from = 0;
  uint32_t steps = 0;          // verify steps that emitted at least one token
  float spent = 0;             // total variation that a biased rule spent
  uint32_t cached_tokens = 0;  // of the prompt, found in the prefix cache when the sequence began

  Finish finish = Finish::none;
  std::string reason;  // with Finish::error
  std::string field;   // with Finish::error, if the request is at fault: the field that is
};

struct SequenceDelivery {
  SendWindow window;
  Time lease_ends{};
};

struct SequenceStep {
  bool in_step = false;       // it has rows in the step that runs
  bool root_in_step = false;  // its root is among them: too late for this round's tree
};

struct SequenceIdentity {
  uint64_t number = 0;  // among all sequences that this verifier ever had: a step's result is for one of them only
  SequenceId id;
  Epoch epoch = 0;
  Peer router;
  Time lease{};
};

struct VerifierSequence {
  VerifierSequence(const SequenceIdentity& who, GenerationSpec wanted, CachedSequence tokens, NodeFates& verifier)
      : identity(who), spec(std::move(wanted)), context(std::move(tokens)), fates(verifier) {}

  const SequenceIdentity identity;
  const GenerationSpec spec;
  CachedSequence context;
  SequenceFates fates;
  SequenceDrafting drafting;
  SequenceOutput output;
  SequenceDelivery delivery;
  SequenceStep step;

  bool running() const { return output.finish == Finish::none; }
  bool decodes() const { return context.prefill_rows() == 0; }
  TreeTiming timing() const { return tree_timing(spec.acceptance.rule); }
  int32_t to_send() const { return context.output() + (running() ? 0 : 1); }  // what there is, as send_window.h counts
};

using VerifierSequences = std::vector<std::unique_ptr<VerifierSequence>>;  // oldest first

}  // namespace slipstream
