// What a draft head learns from one chat.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <ATen/core/Tensor.h>

#include "common/base/result.h"
#include "tools/train/draft_head.h"
#include "tools/train/feature_shard.h"
#include "tools/train/head_config.h"

namespace slipstream::train {

// The numbers of a target that its head learns from. They are not trained.
struct HeadTarget {
  at::Tensor embedding;   // [vocabulary, hidden]
  at::Tensor final_norm;  // [hidden]
  at::Tensor output;      // [draft vocabulary, hidden]: its rows of the output head

  // Errors: those of Weights::load().
  static Result<HeadTarget> load(const std::filesystem::path& model, const HeadConfig& config);
};

// Rows are those of HeadInput, from `first` on: row r is of token first + r, and predicts the next.
struct HeadExample {
  HeadInput input;
  at::Tensor choice;       // [rows] i64: the target's likeliest next token, as an index of the draft vocabulary; -1: not in it
  at::Tensor next;         // [rows] i64: the chat's next token, in the same way
  at::Tensor probability;  // [rows, draft vocabulary] the target's distribution, restricted to it
  int64_t answer = 0;      // the row that predicts the answer's first token

  int64_t rows() const { return choice.size(0); }
  // The first row at an unrolled step that predicts a token of the answer from rows that are there.
  int64_t first_row(int64_t step) const { return std::max(answer, step); }
};

class HeadExamples {
 public:
  // scales: [width] by which features are divided (feature_scales()). steps: of unrolling.
  HeadExamples(const HeadConfig& config, HeadTarget target, const std::vector<float>& scales, int steps);

  // `document` has the head's taps and behind them what the final norm reads (taps_with_final()).
  HeadExample of(const FeatureDocument& document) const;
  // The rows of the chat's answer whose choice is in the draft vocabulary.
  int64_t learnable_rows(const FeatureDocument& document) const;

 private:
  double eps_;
  int64_t hidden_, width_, steps_;
  HeadTarget target_;
  at::Tensor scales_;
  at::Tensor index_;  // [vocabulary] i64: of each token in the draft vocabulary; -1: not in it
};

}  // namespace slipstream::train
