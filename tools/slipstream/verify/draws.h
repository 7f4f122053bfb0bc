// The second part's raw material: many short answers to one prompt, each side with seeds of its own, so that the two samples
// are independent even where equal seeds give equal words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/slipstream/verify/crew.h"

namespace slipstream::command::verify {

// What an answer is cut into. Pieces of a stream will not do: how many tokens travel in one is not part of the law.
enum class Unit : uint8_t {
  token_id,
  logprob_token,  // the text of a token, as given with logprobs
  character,      // where tokens cannot be told apart: a law of tokens is also one of characters
};

std::string_view words(Unit unit);  // "token", "token (from logprobs)", "character"
// The finest that both give.
Unit common_unit(const Sides& sides);

struct Draw {
  std::vector<std::string> units;
  std::vector<std::string> texts;  // Unit::token_id: what each says; may be shorter
};

Draw cut(const Answer& answer, Unit unit, size_t units_max);

struct DrawPlan {
  std::string prompt;
  float temperature = 1;
  size_t samples = 0;     // of each side
  int positions = 0;      // units of each answer
  bool declares = false;  // the candidate tells how far each of its answers strays
};

struct Draws {
  std::vector<Draw> reference, candidate;  // [samples]
  std::vector<double> declared;            // [the candidate's samples] total variation, if it tells
  int64_t draft_nodes = 0;                 // that the candidate's steps judged
};

// Error: a question that got no answer.
Result<Draws> draw(const Crew& crew, const DrawPlan& plan, Unit unit);

}  // namespace slipstream::command::verify
