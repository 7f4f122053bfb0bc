// `slipstream.trees` of an answer: the draft trees of its last rounds, with their tokens' text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/messages/tree_report.h"
#include "common/text/tokenizer.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/generation_request.h"

namespace slipstream {

struct TreeFacts {
  TreeReport report;
  std::vector<std::string> texts;  // [nodes] bytes, which may be part of a character
  std::string own_text;            // of the report's `own`
};

// An error if a request's choices, of all its prompts, may have more trees to tell than
// kTreesToldMax.
ApiResult<void> bound_trees(const GenerationRequest& request, size_t prompts);

// Drops the oldest beyond `most`.
void keep_newest(std::vector<TreeFacts>& trees, int32_t most);

// Of a round of which the answer has only so many tokens, as a stop string ended it: what lies
// behind them is unreached, as if the model had ended there (speculation/walk.h, outcomes).
void end_behind(TreeReport& report, int32_t tokens);

TreeFacts facts_of(TreeReport report, const Tokenizer& tokenizer);
nlohmann::ordered_json trees_json(const std::vector<TreeFacts>& trees);

}  // namespace slipstream
