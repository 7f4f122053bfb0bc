// GenerationSpec: what one request wants generated, and how. Every layer from the HTTP API to the
// draft method embeds this struct instead of copying its fields.
//
// docs/design/WIRE.md states the range of each field, and messages/check.cpp enforces it. A Start
// carries the whole spec, an Advance carries drafter_part() of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/grammar_text.h"
#include "common/base/ids.h"
#include "common/base/trace_context.h"
#include "common/messages/common.h"
#include "common/sampling/logits_params.h"
#include "common/sampling/params.h"

namespace slipstream {

struct GenerationSpec {
  // What determines the next token.
  int32_t prompt_length = 0;  // the prompt is tokens [0, prompt_length) of the sequence; the rest is output
  SamplingParams sampling;
  LogitsParams logits_params;
  uint64_t seed = 0;    // of the noise; if the client gives none, the router picks one and returns it
  uint32_t choice = 0;  // index among the `n` choices of the request
  Acceptance acceptance;

  // Whose earlier answers may help to draft. Never changes a token.
  TenantId tenant = kNoTenant;

  // The trace that its work belongs to.
  TraceContext trace = {};

  // What the output must follow. Drafters are not told: they guess worse, never wrongly.
  GrammarText grammar;

  // What ends the output, and what is reported with each token.
  int32_t output_max = 0;                  // most tokens after the prompt, over all epochs
  std::vector<TokenId> stop_ids;           // emitting one of these ends the sequence with Finish::stop; it is sent too
  std::optional<int32_t> top_logprobs;     // alternatives reported beside each token's logprob; nullopt: no logprobs
  std::optional<int32_t> prompt_logprobs;  // the same for the tokens of the prompt, but the first: nothing comes before it
  int32_t trees = 0;                       // draft trees of the last rounds that are reported (tree_report.h); 0: none

  // How the row that samples the token with this output index must sample. Index 0 is the first
  // token after the prompt.
  RowSampling row(int32_t output_index) const {
    return {.seed = seed, .choice = choice, .position = static_cast<uint32_t>(output_index), .params = sampling};
  }
  // Logprobs that a prompt of so many tokens has. For kPromptLogprobsMax.
  int64_t prompt_logprobs_of(int64_t tokens) const { return prompt_logprobs ? tokens * (1 + *prompt_logprobs) : 0; }
  bool operator==(const GenerationSpec&) const = default;
};

// The part that a drafter needs: all that determines the next token but the grammar, the tenant
// and the trace. The other fields get their defaults.
inline GenerationSpec drafter_part(GenerationSpec spec) {
  spec.grammar = {};
  spec.output_max = 0;
  spec.stop_ids.clear();
  spec.top_logprobs.reset();
  spec.prompt_logprobs.reset();
  spec.trees = 0;
  return spec;
}

}  // namespace slipstream
