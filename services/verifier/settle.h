// What the output of a step makes of a sequence: tokens are emitted, the accepted path is committed
// to the cache, and every node of its tree gets its fate. Pure.
#pragma once

#include <span>
#include <vector>

#include "common/speculation/walk.h"
#include "services/verifier/counters.h"
#include "services/verifier/gather.h"

namespace slipstream {

struct Settled {
  int emitted = 0;            // tokens appended
  int accepted_nodes = 0;     // of those, drafted
  std::vector<int32_t> path;  // [accepted_nodes] the rows of the slice that hold them; row 0 is the root
};

// walked: the accepted path of slice.tree, and the token behind it. A token of -1 (its row of
// logits was not finite, or its masks left no token) ends the sequence with Finish::error.
Settled settle(VerifierSequence& sequence, const BatchSlice& slice, const Walk& walked, VerifierCounters& counters);

// Sets the reason of a sequence that got no token: either its masks forbid every token, or the
// model's logits were not finite. vocabulary: columns of the logits.
void explain_no_token(VerifierSequence& sequence, int32_t vocabulary, VerifierCounters& counters);

// Keeps the logprobs of the prompt's tokens that the step has scored, if it has any. False: a row's
// logits were not finite, which ends the sequence with Finish::error.
bool keep_prompt_logprobs(VerifierSequence& sequence, const BatchSlice& slice, const VerifyPlan& plan, const StepOutput& output,
                          VerifierCounters& counters);

// Keeps the logprobs of the tokens that settle() emitted. logprobs: [slice.tree.size() + 1], of the
// token after each row.
void keep_logprobs(VerifierSequence& sequence, const Settled& settled, std::span<const TokenLogprob> logprobs);

// Keeps the features that the step read for its drafters: of its context, and of the accepted path
// (Settled::path) of its tree. numbers: of a feature.
void keep_features(VerifierSequence& sequence, const BatchSlice& slice, const StepOutput& output, int32_t numbers,
                   std::span<const int32_t> path);

// Counts the emitted tokens that were near-ties. rows: [nodes + 1] of the slice, as
// StepOutput::near_ties.
void add_near_ties(VerifierSequence& sequence, const Settled& settled, std::span<const uint8_t> rows,
                   VerifierCounters& counters);

// Adds what a biased rule spent on the emitted tokens. spent: [tokens of the walk] total variation,
// or empty.
void add_spent(VerifierSequence& sequence, const Settled& settled, std::span<const double> spent);

}  // namespace slipstream
