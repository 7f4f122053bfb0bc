#include "tools/train/head_example.h"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softmax.h>

#include "common/checkpoint/checkpoint.h"
#include "tools/train/weights.h"

namespace slipstream::train {
namespace {

at::Tensor ids(std::span<const TokenId> tokens) {
  at::Tensor values = at::empty({static_cast<int64_t>(tokens.size())}, at::kLong);
  std::ranges::copy(tokens, values.mutable_data_ptr<int64_t>());
  return values;
}

}  // namespace

Result<HeadTarget> HeadTarget::load(const std::filesystem::path& model, const HeadConfig& config, bool keep_all) {
  const LlamaConfig& shape = config.target;
  std::vector<TensorSpec> specs{{"model.embed_tokens.weight", TensorRole::embedding, shape.vocabulary, shape.hidden},
                                {"model.norm.weight", TensorRole::gain, 1, shape.hidden}};
  if (!shape.tied_embeddings) specs.push_back({"lm_head.weight", TensorRole::embedding, shape.vocabulary, shape.hidden});
  TRY(const Checkpoint checkpoint, Checkpoint::open(model));
  TRY(const Weights weights, Weights::load(checkpoint, specs));
  const at::Tensor embedding = weights.at("model.embed_tokens.weight").detach();
  const at::Tensor output = shape.tied_embeddings ? embedding : weights.at("lm_head.weight").detach();
  return HeadTarget{.embedding = embedding,
                    .final_norm = weights.at("model.norm.weight").detach(),
                    .output = output.index_select(0, ids(config.vocabulary)),
                    .all_output = keep_all ? output : at::Tensor()};
}

HeadTarget HeadTarget::on(at::Device device) const {
  const at::Tensor embeddings = embedding.to(device);
  const auto all = [&] { return all_output.is_same(embedding) ? embeddings : all_output.to(device); };
  return {.embedding = embeddings,
          .final_norm = final_norm.to(device),
          .output = output.to(device),
          .all_output = all_output.defined() ? all() : at::Tensor()};
}

HeadExamples::HeadExamples(const HeadConfig& config, const HeadTarget& target, const std::vector<float>& scales,
                           at::ScalarType compute)
    : width_(config.width()),
      embedding_(target.embedding),
      all_output_(target.all_output),
      output_(config, target.final_norm, target.output, compute) {
  const at::Tensor numbers = at::empty({width_});
  std::ranges::copy(scales, numbers.mutable_data_ptr<float>());
  scales_ = numbers.to(target.output.device());
}

HeadExample HeadExamples::of(const HeadBatch& batch) const {
  const at::NoGradGuard no_gradients;
  HeadExample example;
  example.input.first = batch.first;
  example.input.features = batch.features.narrow(2, 0, width_).to(at::kFloat) / scales_;
  example.input.embeddings = at::embedding(embedding_, batch.tokens);
  example.target_out = output_.read(batch);
  example.output = output_.output();
  if (batch.extra.numel() == 0) return example;
  example.extra_output = all_output_.index_select(0, batch.extra).to(example.output.scalar_type());
  example.output = at::cat({example.output, example.extra_output});
  return example;
}

at::Tensor target_probability(const at::Tensor& target_out, const at::Tensor& output) {
  const at::NoGradGuard no_gradients;
  return at::softmax(target_logits(target_out, output), 1);
}

}  // namespace slipstream::train
