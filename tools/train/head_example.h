// What a draft head learns from some chats, on the device that computes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <ATen/core/Tensor.h>

#include "common/base/result.h"
#include "tools/train/draft_head.h"
#include "tools/train/head_batch.h"
#include "tools/train/head_config.h"
#include "tools/train/target_output.h"

namespace slipstream::train {

// The numbers of a target that its head learns from. They are not trained.
struct HeadTarget {
  at::Tensor embedding;   // [vocabulary, hidden]
  at::Tensor final_norm;  // [hidden]
  at::Tensor output;      // [draft vocabulary, hidden]: its rows of the output head

  // On the host. Errors: those of Weights::load().
  static Result<HeadTarget> load(const std::filesystem::path& model, const HeadConfig& config);
  HeadTarget on(at::Device device) const;
};

struct HeadExample {
  HeadInput input;
  at::Tensor target_out;  // [learned rows, hidden] f32: what the target's output head reads
};

class HeadExamples {
 public:
  // scales: [width] by which features are divided (feature_scales()). Computes where `target` is,
  // the product of its distributions in `compute`, as DraftHead those of a head.
  HeadExamples(const HeadConfig& config, const HeadTarget& target, const std::vector<float>& scales, at::ScalarType compute);

  // `batch` is on the device. Its features are the head's taps and behind them what the final norm
  // reads (taps_with_final()).
  HeadExample of(const HeadBatch& batch) const;
  // target_out: [rows, hidden] of an example. Returns the target's distributions, restricted to the
  // draft vocabulary: [rows, draft vocabulary].
  at::Tensor probability(const at::Tensor& target_out) const;

 private:
  int64_t width_;
  at::Tensor embedding_;
  TargetOutput output_;
  at::Tensor scales_;
};

}  // namespace slipstream::train
