// What a GPU needs, where there is none: no operation mixes the device's tensors with the host's,
// and a step reads nothing back. torch's meta device has tensors with shapes and no numbers:
// whoever mixes them with others, or reads one, throws.
#include "tools/train/compute_device.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <torch/library.h>

#include "tests/unit/tools/train/tiny_head.h"
#include "tools/train/sequence_lessons.h"
#include "tools/train/training.h"

namespace {

// Operations whose shapes torch knows in Python alone.
at::Tensor shape_of_selected(const at::Tensor& from, int64_t dimension, const at::Tensor& index) {
  if (!index.is_meta()) throw std::runtime_error("an index on the host");
  std::vector<int64_t> shape = from.sizes().vec();
  shape[static_cast<size_t>(dimension)] = index.numel();
  return at::empty(shape, from.options());
}

at::Tensor shape_of_chosen(const at::Tensor& which, const at::Tensor& one, const at::Tensor& other) {
  return which.to(one.scalar_type()) + one + other;
}

at::Tensor& chosen_into(const at::Tensor& which, const at::Tensor& one, const at::Tensor& other, at::Tensor& out) {
  if (!which.is_meta() || !one.is_meta() || !other.is_meta() || !out.is_meta())
    throw std::runtime_error("a choice on the host");
  return out;
}

at::Tensor shape_of_table(const at::Tensor& gradient, const at::Tensor& tokens, c10::SymInt rows, c10::SymInt, bool) {
  if (!tokens.is_meta()) throw std::runtime_error("tokens on the host");
  return at::empty({rows.expect_int(), gradient.size(-1)}, gradient.options());
}

void step_of_shapes(at::TensorList weights, at::TensorList gradients, at::TensorList means, at::TensorList squares,
                    at::TensorList, at::TensorList steps, double, double, double, double, double, bool, bool,
                    const std::optional<at::Tensor>& divisor, const std::optional<at::Tensor>& broken) {
  for (const at::TensorList list : {weights, gradients, means, squares, steps}) {
    for (const at::Tensor& tensor : list) {
      if (!tensor.is_meta()) throw std::runtime_error("the optimizer has a tensor on the host");
    }
  }
  if (!divisor->is_meta() || !broken->is_meta()) throw std::runtime_error("the host decides a step");
}

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("index_select", shape_of_selected);
  library.impl("where.self", shape_of_chosen);
  library.impl("where.self_out", chosen_into);
  library.impl("embedding_dense_backward", shape_of_table);
  library.impl("_fused_adamw_", step_of_shapes);
}

}  // namespace

namespace slipstream::train {
namespace {

using testing::HasSubstr;

class ComputeDeviceTest : public testing::Test, public TinyHead {};

TEST_F(ComputeDeviceTest, AHeadTakesStepsWithoutANumberOnTheHost) {
  for (const bool bf16 : {false, true}) {
    HeadTraining head = training({.steps = 3, .batch = 4, .micro_batch = 3, .bf16 = bf16}, *data_, at::kMeta);
    for (int step = 0; step < 3; ++step) ASSERT_TRUE(head.step().has_value());
    EXPECT_ANY_THROW((void)head.reports());
  }
}

TEST_F(ComputeDeviceTest, AModelTakesStepsWithoutANumberOnTheHost) {
  const LlamaConfig config{.hidden = 16,
                           .intermediate = 32,
                           .layers = 2,
                           .heads = 2,
                           .kv_heads = 1,
                           .head_size = 8,
                           .vocabulary = kVocabulary,
                           .tied_embeddings = true};
  for (const bool bf16 : {false, true}) {
    std::vector<TokenShard> shards;
    shards.push_back(folder_.shard("shard", counting(500)));
    auto lessons = std::make_unique<SequenceLessons>(Sequences::cut(std::move(shards), 16, 1).value(), std::nullopt,
                                                     std::nullopt, LessonSizes{.batch = 4, .micro_batch = 2}, at::kMeta);
    Training model(config, Weights::random(llama_tensors(config), 2, 1).on(at::kMeta), std::move(lessons),
                   {.steps = 3, .bf16 = bf16});
    for (int step = 0; step < 3; ++step) ASSERT_TRUE(model.step());
    EXPECT_ANY_THROW((void)model.reports());
  }
}

TEST(ComputeDevice, SaysWhichGpuIsNotThere) {
  const auto device = ComputeDevice::open({.kind = DeviceKind::cuda, .ordinal = 63}, 1);
  ASSERT_FALSE(device.has_value());
  EXPECT_THAT(device.error().message, HasSubstr("cuda:63"));
}

TEST(ComputeDevice, RoundsByThreadsAndInstructionsOfACpu) {
  const ComputeDevice device = ComputeDevice::open({}, 2).value();
  EXPECT_FALSE(device.on_gpu());
  EXPECT_EQ(device.rounding().at(kThreadsCondition), "2");
  EXPECT_TRUE(device.rounding().contains(kInstructionsCondition));
}

}  // namespace
}  // namespace slipstream::train
