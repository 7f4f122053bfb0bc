// One sequence of a verifier, made of parts. sequences.cpp fills them at the Start. All files read
// them, and these write them:
//
//   identity, spec   constant
//   context          tokens and their place in the cache. gather.cpp reserves blocks (the cache may
//                    take another sequence's for that), settle.cpp commits the accepted path,
//                    step.cpp notes that a prompt's chunk is computed, sequences.cpp forgets the
//                    cache at the end
//   grammar          what may follow the output. sequences.cpp makes it, step.cpp leads it on; masks
//                    are asked for by rounds and, of the step's rows, by gather.cpp. The step makes
//                    those that nobody needed before
//   fates            what became of its draft nodes. Rounds: rounds.cpp (arrivals, late, stale,
//                    invalid, trimmed), draft_sources.cpp (the resident's arrivals, merged, trimmed)
//                    and who_drafts.cpp (stale); gather.cpp and schedule.cpp (trimmed), settle.cpp
//                    (accepted, rejected, unreached), step.cpp (stale if the step failed)
//   drafting         who drafts for it, and its running round. Rounds (the same three files); also
//                    sequences.cpp (what the router said), gather.cpp (takes draft.tree),
//                    schedule.cpp (prices; cuts draft.tree), step.cpp (rate), resident.cpp (what it
//                    holds)
//   output           what its tokens came with, and how it ended. settle.cpp; also gather.cpp
//                    (cached_tokens), step.cpp (trees; a failed step), sequences.cpp (makes the scores of
//                    the prompt), delivery.cpp (drops the logprobs and trees that are acked)
//   delivery         what its router has. delivery.cpp; also verifier.cpp (the lease, and when to
//                    send again)
//   step             its share of the step in flight. gather.cpp, and step.cpp when the step ends
//
// Invariants between steps:
//   1. a sequence that decodes has context.prefill_rows() == 0: all but the root, the last token,
//      is in the cache;
//   2. output.drafted.size() == output.depths.size() == context.output().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/engine/cached_sequence.h"
#include "common/messages/generate.h"
#include "services/verifier/fates.h"
#include "services/verifier/grammar_guide.h"
#include "services/verifier/prompt_scores.h"
#include "services/verifier/send_window.h"
#include "services/verifier/sequence_drafting.h"
#include "services/verifier/tree_reports.h"
#include "services/verifier/tree_timing.h"

namespace slipstream {

struct SequenceOutput {
  PromptScores prompt;                 // sent before the output
  std::vector<uint8_t> drafted;        // [output] 1: a drafter had guessed it
  std::vector<uint8_t> depths;         // [output] of the tree that its step verified; 0: none
  std::vector<TokenLogprob> logprobs;  // if asked for, from output index logprobs_from on: what is acked is dropped
  int32_t logprobs_from = 0;
  TreeReports trees;           // if asked for
  uint32_t steps = 0;          // rounds that emitted at least one token
  float spent = 0;             // total variation that a biased rule spent
  uint32_t cached_tokens = 0;  // of the prompt, found in the prefix cache when the sequence began
  uint32_t near_ties = 0;      // emitted tokens (sampling/near_tie.h)

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
  std::optional<GrammarGuide> grammar;
  bool follows = false;  // its grammar follows the newest output beside the loop: it has no step until then
  SequenceFates fates;
  SequenceDrafting drafting;
  SequenceOutput output;
  SequenceDelivery delivery;
  SequenceStep step;

  // Of its span (sequence_span.h).
  Time began{};
  std::optional<Time> first_token = {};  // of this epoch

  bool running() const { return output.finish == Finish::none; }
  bool decodes() const { return context.prefill_rows() == 0; }
  // Each of its rows' logits is looked at, so that no step with it screens the output layer.
  bool reads_whole_output() const {
    return spec.sampling.temperature > 0 || grammar || context.logits_processor() != nullptr || spec.top_logprobs;
  }
  TreeTiming timing() const { return tree_timing(spec.acceptance.rule); }
  // The index (messages/generate.h) behind what can be sent: the prompt's logprobs go first.
  int32_t sendable() const { return output.prompt.done() ? context.output() : output.prompt.next() - spec.prompt_length; }
  int32_t to_send() const { return sendable() + (running() ? 0 : 1); }  // as send_window.h counts
};

using VerifierSequences = std::vector<std::unique_ptr<VerifierSequence>>;  // oldest first

}  // namespace slipstream
