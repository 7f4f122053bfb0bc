// What the format of an answer writes from: what is the same in all its JSON, and its choices with
// what they have used so far.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "services/router/http_api/choice.h"
#include "services/router/request.h"

namespace slipstream {

struct AnswerHead {     // the same in every chunk of one answer
  std::string id;       // such as "chatcmpl-00ab1", and
  std::string stem;     // its part that no other answer has, for ids of what is in the answer
  int64_t created = 0;  // Unix seconds
  std::string model;
  int64_t seed = 0;  // from the client or chosen by the server
  bool speculates = true;
  uint16_t draft_nodes_max = 0;            // of a round, for reports
  std::string service_tier = {};           // as it was served; empty: the request names none
  std::vector<std::string> warnings = {};  // of the request, told with the answer's end
};

struct Usage {
  int32_t prompt_tokens = 0, completion_tokens = 0;
  int32_t reasoning_tokens = 0;  // of the completion tokens
  uint32_t guessed_tokens = 0;   // of the completion tokens, those that a drafter had guessed
};

// What all choices of an answer have used.
struct Totals {
  Usage usage;
  SpeculationReport report = {};  // its cached_tokens are those of the prompts
  AcceptanceHistogram histogram = {};

  // Of the prompt, those that the verifier did not compute.
  int32_t cached_tokens() const;
};

struct AnswerState {
  std::vector<const Choice*> choices;      // by their index; at least one
  int32_t prompt_tokens = 0;               // of all prompts together
  std::vector<const Choice*> others = {};  // that `best_of` left out once all had ended: they count in the totals

  bool ended() const;  // all choices have
  Totals totals() const;
  const Choice& operator[](int index) const { return *choices[static_cast<size_t>(index)]; }
  const Choice& first() const { return *choices.front(); }
};

}  // namespace slipstream
