#include "tools/train/target_output.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rms_norm.h>

namespace slipstream::train {

TargetOutput::TargetOutput(const HeadConfig& config, const at::Tensor& final_norm, const at::Tensor& output,
                           at::ScalarType compute)
    : eps_(config.target.rms_eps),
      hidden_(config.target.hidden),
      width_(config.width()),
      final_norm_(final_norm),
      output_(output.to(compute)) {}

at::Tensor TargetOutput::read(const HeadBatch& batch) const {
  const at::NoGradGuard no_gradients;
  const int64_t rows = batch.tokens.size(1) - batch.first;
  const at::Tensor residual = batch.features.narrow(1, batch.first, rows)
                                  .narrow(2, width_, hidden_)
                                  .reshape({-1, hidden_})
                                  .index_select(0, batch.rows)
                                  .to(at::kFloat);
  return at::rms_norm(residual, {hidden_}, final_norm_, eps_);
}

at::Tensor target_logits(const at::Tensor& read, const at::Tensor& output) {
  const at::NoGradGuard no_gradients;
  return at::linear(read.to(output.scalar_type()), output).to(at::kFloat);
}

}  // namespace slipstream::train
