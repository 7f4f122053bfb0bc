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
  at::Tensor output;      // [draft vocabulary, hidden]: its rows of the output layer
  at::Tensor all_output;  // [vocabulary, hidden]: the whole output layer, which may be `embedding`; undefined: not kept

  // On the host. Errors: those of Weights::load().
  // keep_all: all_output, which extra tokens need.
  static Result<HeadTarget> load(const std::filesystem::path& model, const HeadConfig& config, bool keep_all = false);
  HeadTarget on(at::Device device) const;
};

struct HeadExample {
  HeadInput input;
  at::Tensor target_out;    // [learned rows, hidden] f32: what the target's output layer reads
  at::Tensor extra_output;  // [extra, hidden]: the output layer's rows of the batch's extra tokens; undefined: it has none
  at::Tensor output;        // [draft vocabulary + extra, hidden]: all of its rows that are learned
};

// target_out: [rows, hidden] of an example, output: that of the example. Returns the target's
// distributions, restricted to the tokens that are learned: [rows, draft vocabulary + extra].
at::Tensor target_probability(const at::Tensor& target_out, const at::Tensor& output);

class HeadExamples {
 public:
  // scales: [width] by which features are divided (feature_scales()). Computes where `target` is,
  // the product of its distributions in `compute`, as DraftHead those of a head.
  HeadExamples(const HeadConfig& config, const HeadTarget& target, const std::vector<float>& scales, at::ScalarType compute);

  // `batch` is on the device. Its features are the head's taps and behind them what the final norm
  // reads (taps_with_final()).
  HeadExample of(const HeadBatch& batch) const;

 private:
  int64_t width_;
  at::Tensor embedding_, all_output_;
  TargetOutput output_;
  at::Tensor scales_;
};

}  // namespace slipstream::train
