// What one request wants generated, and how. Every layer from the HTTP API to the draft method
// embeds this struct instead of copying its fields. docs/design/WIRE.md states the range of each
// field, and check.cpp holds the fields to it.
//
// A Start carries all of it. An Advance carries drafter_part() of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/messages/common.h"
#include "common/sampling/logits_params.h"
#include "common/sampling/params.h"

namespace slipstream {

struct GenerationSpec {
  // Which token comes next.
  int32_t prompt_length = 0;  // the first so many tokens of the sequence are the prompt, the rest is output
  SamplingParams sampling;
  LogitsParams logits_params;
  uint64_t seed = 0;    // of the noise; the router picks one if the client gave none, and returns it
  uint32_t choice = 0;  // index among the `n` choices of the request
  Acceptance acceptance;

  // Where the output ends, and what is told beside its tokens.
  int32_t output_max = 0;               // tokens after the prompt, those of earlier epochs included
  std::vector<TokenId> stop_ids;        // emitting one ends the sequence; it is sent, then Finish::stop
  std::optional<int32_t> top_logprobs;  // each token comes with its logprob and so many alternatives; none: with neither

  // What the row that chooses the output token of that index must know. 0 is the first token after
  // the prompt.
  RowSampling row(int32_t output_index) const {
    return {.seed = seed, .choice = choice, .position = static_cast<uint32_t>(output_index), .params = sampling};
  }
  bool operator==(const GenerationSpec&) const = default;
};

// What a drafter is told: all that decides which token comes next. The rest keeps its defaults.
inline GenerationSpec drafter_part(GenerationSpec spec) {
  spec.output_max = 0;
  spec.stop_ids.clear();
  spec.top_logprobs.reset();
  return spec;
}

}  // namespace slipstream
