// The request fields that change logits before a token is sampled (sampling/logits_params.h):
// penalties, biases, masks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/messages/generation.h"
#include "common/text/tokenizer.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {

// Read the body's fields and check types and ranges. What the model makes of them is not checked
// yet: bad words, for one, are text here.
ApiResult<void> read_logits_params(const RequestFields& fields, LogitsParams& how);
ApiResult<std::vector<std::string>> read_bad_words(const RequestFields& fields);

// Adds to the spec's adjustments what needs the model: the tokens of bad_words, and the stop_ids
// that min_tokens keeps back. vocabulary: rows of the logits. An error names the field that asks
// for what this model cannot do.
ApiResult<void> fit_adjustments(GenerationSpec& spec, std::span<const std::string> bad_words, const Tokenizer& tokenizer,
                                int32_t vocabulary);

}  // namespace slipstream
