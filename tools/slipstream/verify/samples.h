// Gets the samples of the second part of verify-lossless: many short answers to one prompt. The two
// servers get different seeds, so that their samples are independent even where equal seeds give
// equal answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/slipstream/verify/draft_use.h"
#include "tools/slipstream/verify/question_pool.h"

namespace slipstream::command::verify {

// Tokens asked for beyond those that are compared, so that the compared tokens have draft trees of
// several levels before them, as in long answers. Without them the trees would be shallow:
//   - a step drafts no deeper than the rest of the answer, whose last token is the target's own;
//   - rules with sampled drafts draft nothing for the first token;
//   - a tree with two siblings a node has two levels only if six tokens are left.
inline constexpr int kDraftRoom = 5;
// Distance between the seed ranges of two values of --seed: enough for half a million answers of
// each server.
inline constexpr int64_t kSeedStride = 1'000'000;

// The unit into which an answer is cut. Pieces of the stream cannot be used: how many tokens travel
// in one piece is not part of the distribution.
enum class Unit : uint8_t {
  token_id,
  logprob_token,  // text of a token, as sent with logprobs
  // Used if a server does not tell tokens apart. Equal distributions of tokens give equal
  // distributions of characters.
  character,
};

std::string_view words(Unit unit);  // "token", "token (from logprobs)", "character"
// Returns the finest unit that both servers give.
Unit common_unit(const ServerPair& servers);

// One answer, cut into units.
struct Sample {
  std::vector<std::string> units;
  // [units] Upper bound on the total variation declared up to each unit. Empty: use the bound of
  // the whole answer.
  std::vector<double> spent;
  std::vector<std::string> texts;  // Unit::token_id: the text of each token; may be shorter
  std::vector<uint8_t> drafted;    // [units] 1 if a draft stood there; may be shorter; empty: unknown
};

// Cuts an answer into at most `units_max` units; drops the rest.
Sample cut(const Answer& answer, Unit unit, size_t units_max);

struct SamplePlan {
  std::string prompt;
  float temperature = 1;
  size_t samples = 0;  // of each server
  int positions = 0;   // units of each answer that are kept
  // The reference uses first_seed, first_seed + 2, ...; the candidate uses the seeds between.
  int64_t first_seed = kSeedStride;
  bool declares = false;  // the candidate declares a bias with each answer
};

struct Samples {
  std::vector<Sample> reference, candidate;  // [samples]
  // [candidate] Total variation declared for the whole answer, if the candidate declares one.
  std::vector<double> declared;
  DraftUse drafting;
};

// Error: a question got no answer.
Result<Samples> draw_samples(const QuestionPool& pool, const SamplePlan& plan, Unit unit);

}  // namespace slipstream::command::verify
