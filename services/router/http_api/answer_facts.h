// The JSON that answers of every API carry beside their text: OpenAI's usage, vLLM's
// `metrics.speculative_decoding`, logprobs, and the `slipstream` object.
#pragma once

#include <nlohmann/json.hpp>

#include "services/router/http_api/answer_state.h"

namespace slipstream {

nlohmann::ordered_json usage_json(const Usage& usage);    // so far
nlohmann::ordered_json usage_json(const Totals& totals);  // at the end, with details
nlohmann::ordered_json metrics_json(const Totals& totals, uint16_t draft_nodes_max);
nlohmann::ordered_json tokens_json(const TokenFacts& tokens);
nlohmann::ordered_json logprob_json(const LogprobFacts::Token& token);

// Which acceptance rule ran for a choice, and why it was not the one asked for.
nlohmann::ordered_json speculation_json(const AnswerHead& head, const Choice& choice);

// `slipstream` of an answer's end: what is true of the answer whatever its API.
nlohmann::ordered_json slipstream_json(const AnswerHead& head);

}  // namespace slipstream
