// The request fields that change logits before a token is drawn (sampling/adjustments.h): penalties, biases, masks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/sampling/adjustments.h"
#include "common/text/tokenizer.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {

// As the body says it: types and ranges are checked, not yet what the model makes of it.
struct AdjustmentFields {
  Adjustments adjustments;
  std::vector<std::string> bad_words;  // as text
};
ApiResult<AdjustmentFields> read_adjustments(const RequestFields& fields);

// What its verifier gets. vocabulary: rows of the logits. end_ids: those that end this answer, kept back by min_tokens.
ApiResult<Adjustments> adjustments_of(const AdjustmentFields& fields, const Tokenizer& tokenizer, int32_t vocabulary,
                                      std::span<const TokenId> end_ids);

}  // namespace slipstream
