// The loss in slices beside that of all rows at once.
#include "tools/train/head_loss.h"

#include <cmath>
#include <vector>

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include "tests/unit/tools/train/tiny_head.h"

namespace slipstream::train {
namespace {

constexpr int kSteps = 3;

class HeadLoss : public testing::TestWithParam<bool>, public TinyHead {
 public:
  HeadLoss() : weights_(first_head_weights(config_, target_, scales_, 1)), head_(config_, weights_, 64, at::kFloat) {
    for (size_t i = 0; i < 8; ++i) documents_.push_back(&data_->train()[i]);
    batch_ = HeadBatcher(config_, *data_, kSteps, at::kCPU).of(documents_).value();
    example_ = examples().of(batch_);
    if (!GetParam()) at::Tensor(weights_.at("lm_head.weight")).requires_grad_(false);
  }
  std::vector<at::Tensor> gradients_taken() {
    std::vector<at::Tensor> gradients;
    for (const Parameter& parameter : weights_.all()) {
      gradients.push_back(parameter.value.grad());
      parameter.value.mutable_grad() = at::Tensor();
    }
    return gradients;
  }

 protected:
  Weights weights_;
  DraftHead head_;
  std::vector<const FeatureDocument*> documents_;
  HeadBatch batch_;
  HeadExample example_;
};

TEST_P(HeadLoss, InSlicesIsThatOfAllRowsAtOnce) {
  const std::vector<double> weights{0.5, 0.4, 0.1};
  ASSERT_GT(batch_.learned_rows(), 150);  // several slices
  const at::Tensor probability = target_probability(example_.target_out, example_.output);
  std::vector<at::Tensor> outs = head_.unroll(example_.input, kSteps);
  at::Tensor expected;
  for (size_t step = 0; step < kSteps; ++step) {
    const at::Tensor read = head_.normed(outs[step].flatten(0, 1).index_select(0, batch_.rows));
    const at::Tensor loss = weights[step] * cross_entropy(head_.logits(read, head_.output()), probability).sum();
    expected = expected.defined() ? expected + loss : loss;
  }
  expected.backward();
  const std::vector<at::Tensor> whole = gradients_taken();

  outs = head_.unroll(example_.input, kSteps);
  const at::Tensor got = head_loss_backward(head_, outs, batch_.rows, example_, weights);
  EXPECT_FALSE(got.requires_grad());
  EXPECT_NEAR(got.item<double>(), expected.item<double>(), 1e-5 * expected.item<double>());
  const std::vector<at::Tensor> sliced = gradients_taken();
  for (size_t i = 0; i < whole.size(); ++i) {
    const std::string& name = weights_.all()[i].spec.name;
    ASSERT_EQ(whole[i].defined(), sliced[i].defined()) << name;
    if (!whole[i].defined()) continue;
    EXPECT_TRUE(sliced[i].allclose(whole[i], 1e-3, 1e-5 * whole[i].abs().max().item<double>())) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(OutputHead, HeadLoss, testing::Bool(),
                         [](const auto& trained) { return trained.param ? "Trained" : "Frozen"; });

}  // namespace
}  // namespace slipstream::train
