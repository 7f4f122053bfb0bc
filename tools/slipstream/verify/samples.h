// Draws the samples of the second part of verify-lossless: many short answers to one prompt. Each
// server has seeds of its own, so that the two sets of samples are independent even where equal
// seeds give equal words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/slipstream/verify/draft_use.h"
#include "tools/slipstream/verify/question_pool.h"

namespace slipstream::command::verify {

// Tokens asked for beyond those that are compared. A step drafts no deeper than the answer may
// still go, and its last token is its own; rules that draw draft nothing for the first token, and a
// tree with two siblings a node is two deep only where six tokens are left. So the second and the
// third, say, have a tree of several levels before them, as they have in long answers.
inline constexpr int kDraftRoom = 5;
// What lies between the seeds of one --seed and the next: those of half a million answers a side.
inline constexpr int64_t kSeedStride = 1'000'000;

// What an answer is cut into. Pieces of a stream will not do: how many tokens travel in one is not
// part of the distribution.
enum class Unit : uint8_t {
  token_id,
  logprob_token,  // the text of a token, as given with logprobs
  character,      // where tokens cannot be told apart: a distribution of tokens is also one of characters
};

std::string_view words(Unit unit);  // "token", "token (from logprobs)", "character"
// The finest that both give.
Unit common_unit(const ServerPair& servers);

// One answer, cut into units.
struct Sample {
  std::vector<std::string> units;
  std::vector<double> spent;  // [units] total variation that was spent up to there at most; empty: the answer's whole counts
  std::vector<std::string> texts;  // Unit::token_id: what each says; may be shorter
  std::vector<uint8_t> drafted;    // [units] likewise: a draft stood there; empty: not told
};

// Cuts an answer; what is beyond `units_max` is left out.
Sample cut(const Answer& answer, Unit unit, size_t units_max);

struct SamplePlan {
  std::string prompt;
  float temperature = 1;
  size_t samples = 0;                // of each side
  int positions = 0;                 // units of each answer that are kept
  int64_t first_seed = kSeedStride;  // the reference has every other from there on, the candidate those between
  bool declares = false;             // the candidate tells how far each of its answers strays
};

struct Samples {
  std::vector<Sample> reference, candidate;  // [samples]
  std::vector<double> declared;              // [the candidate's samples] total variation of the whole answer, if it tells
  DraftUse drafting;
};

// Error: a question that got no answer.
Result<Samples> draw_samples(const QuestionPool& pool, const SamplePlan& plan, Unit unit);

}  // namespace slipstream::command::verify
