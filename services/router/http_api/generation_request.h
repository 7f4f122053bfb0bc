// What all requests that generate text have in common, whichever path they came by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/messages/generation.h"
#include "services/router/http_api/reasoning.h"
#include "services/router/http_api/tool_calls.h"
#include "services/router/request.h"

namespace slipstream {

struct GenerationRequest {
  GenerationSpec spec;                 // without what needs the model; an output_max of 0: what the context leaves
  std::vector<std::string> bad_words;  // as text; the spec has them as tokens
  std::string grammar_field;           // that asked for the spec's grammar, for errors
  GrammarText grammar_without_tools;   // is followed where the spec's cannot be; empty: none is
  std::optional<int64_t> seed;         // nullopt: the server chooses one
  std::vector<std::string> stops;
  bool shows_stop = false;     // the stop string that ends the answer is part of it
  bool shows_special = false;  // special tokens are part of the text, but for the one that ends the answer
  bool ignore_eos = false;
  int choices = 1;                     // of each prompt: `n`, or `best_of` if that is more
  int best = 0;                        // of them, those with the highest mean logprob are told; 0: all
  bool tells_logprobs = false;         // else they only choose the best
  bool tells_text_logprobs = false;    // of the tokens that are text of the answer, apart from all others
  int32_t output_least = 1;            // of `max_tokens`
  bool scores_only = false;            // `max_tokens` is 0: the token that is sampled is not told
  bool lists_prompt = false;           // the lists of logprobs begin with the prompt's tokens
  bool tells_prompt_logprobs = false;  // they are told in a list of their own
  int32_t priority = 0;                // in the router's queue (waiting_queue.h)
  std::string service_tier;            // as it is served; empty: it names none
  bool stream = false;
  bool include_usage = false;     // a last chunk without choices
  bool continuous_usage = false;  // usage in each chunk
  // Fields of Slipstream alone. {"slipstream": {"tokens": true}} returns token ids and which were
  // drafted.
  Speculation speculation;
  bool tell_tokens = false;
  bool splits_reasoning = true;               // of a chat: what the model thinks comes apart from its answer
  Reasoning reasoning = Reasoning::none;      // how its answer begins
  ToolFormat tool_format = ToolFormat::none;  // in which calls are looked for in the answer
  bool parallel_tool_calls = true;            // false: only the first call counts
  bool must_call = false;                     // the answer is a call of a tool
  bool calls_or_document = false;             // its grammar has calls of tools, or a JSON document in their place
  std::string call_only;                      // with must_call: of this one; empty: of any
  std::vector<std::string> ignored;           // fields that are not used, as the API calls them
  std::vector<std::string> warnings;          // sentences for the client: what was ignored or taken for something else
};

}  // namespace slipstream
