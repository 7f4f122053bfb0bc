// Reads the request fields that change logits before a token is sampled: penalties, biases and
// masks (sampling/logits_params.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/messages/generation.h"
#include "common/sampling/token_mask.h"
#include "common/text/tokenizer.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {

// Both read the body's fields and check types and ranges. What needs the model comes later: bad
// words are still text here. repetition_default: the penalty of a request that names none.
ApiResult<void> read_logits_params(const RequestFields& fields, float repetition_default, LogitsParams& how);
ApiResult<std::vector<std::string>> read_bad_words(const RequestFields& fields);

// What a request's grammar lets the answer begin with.
struct GrammarStart {
  const TokenMask* mask = nullptr;  // null: the request has no grammar
  std::string_view field = {};      // that asked for it
};

// Adds to the spec what needs the model: the tokens of bad_words, and the stop_ids that min_tokens
// forbids. vocabulary: rows of the logits. An error names the field that asks for what this model
// cannot do.
ApiResult<void> fit_adjustments(GenerationSpec& spec, std::span<const std::string> bad_words, const Tokenizer& tokenizer,
                                int32_t vocabulary, const GrammarStart& grammar = {});

}  // namespace slipstream
