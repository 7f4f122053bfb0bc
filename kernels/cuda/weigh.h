// The distributions after rows of logits, as the exact weights of the sampling chain
// (common/sampling/chain.h), for rules that accept drafts by their probabilities. Weights are
// integers, so totals do not depend on the order of their sums, and a token is found by its place
// among them (TokenDistribution::at(), common/speculation/rejection) with the same answer as on the
// CPU.
#pragma once

#include <cstdint>

#include "kernels/cuda/sample.h"

namespace slipstream::cuda {

struct WeighedRow {
  const float* logits = nullptr;  // [vocabulary]
  int32_t first = 0, end = 0;     // its part of the tokens whose weights are asked for
};

// What the chain made of a row.
struct RowState {
  float highest = 0;
  uint32_t usable = 0;  // else the row is refused
  uint64_t cut = 0;
  double floor = 0;
  uint64_t total = 0;  // of the weights of all tokens that are kept
};

struct WeighArgs {
  const WeighedRow* rows = nullptr;  // [count]
  const RowRule* rules = nullptr;    // [count] REQUIRES: temperatures above 0
  const int32_t* tokens = nullptr;   // of the vocabulary
  uint64_t* weights = nullptr;       // [tokens] gets theirs; 0 of tokens that are not kept
  RowState* states = nullptr;        // [count] gets those of the rows
  int32_t count = 0, vocabulary = 0;
};

struct TokenAtArgs {
  const WeighedRow* row = nullptr;
  const RowRule* rule = nullptr;
  const RowState* state = nullptr;
  const int32_t* without = nullptr;  // [without_count] ascending
  int32_t* token = nullptr;          // gets the token on whose weight `mark` lies; -1: the weights end before it
  uint64_t mark = 0;
  int32_t without_count = 0, vocabulary = 0;
};

// Both return the CUDA runtime's error code; 0: the kernel is on the stream. Row-invariant.
int weigh_rows(const WeighArgs& args, Stream stream);
int find_token(const TokenAtArgs& args, Stream stream);

}  // namespace slipstream::cuda
