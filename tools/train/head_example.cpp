#include "tools/train/head_example.h"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rms_norm.h>
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

// [rows, width] f32 of bf16 numbers
at::Tensor floats(std::span<const uint16_t> numbers, int64_t width) {
  const auto rows = static_cast<int64_t>(numbers.size()) / width;
  // from_blob() takes no const: the numbers are only read, and are copied here.
  return at::from_blob(const_cast<uint16_t*>(numbers.data()), {rows, width}, at::kBFloat16).to(at::kFloat);
}

}  // namespace

Result<HeadTarget> HeadTarget::load(const std::filesystem::path& model, const HeadConfig& config) {
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
                    .output = output.index_select(0, ids(config.vocabulary))};
}

HeadExamples::HeadExamples(const HeadConfig& config, HeadTarget target, const std::vector<float>& scales, int steps)
    : eps_(config.target.rms_eps),
      hidden_(config.target.hidden),
      width_(config.width()),
      steps_(steps),
      target_(std::move(target)),
      scales_(at::empty({width_})),
      index_(at::full({config.target.vocabulary}, int64_t{-1}, at::kLong)) {
  std::ranges::copy(scales, scales_.mutable_data_ptr<float>());
  for (size_t i = 0; i < config.vocabulary.size(); ++i) {
    index_.mutable_data_ptr<int64_t>()[config.vocabulary[i]] = static_cast<int64_t>(i);
  }
}

HeadExample HeadExamples::of(const FeatureDocument& document) const {
  const at::NoGradGuard no_gradients;
  const auto tokens = static_cast<int64_t>(document.tokens.size()) - 1;  // the last one predicts nothing of the chat
  HeadExample example;
  example.input.first = std::max<int64_t>(0, document.answer - steps_);
  example.answer = document.answer - 1 - example.input.first;
  const at::Tensor all = floats(document.features, width_ + hidden_).narrow(0, 0, tokens);
  example.input.features = all.narrow(1, 0, width_) / scales_;
  const at::Tensor each = ids(document.tokens);
  example.input.embeddings = at::embedding(target_.embedding, each.narrow(0, 0, tokens));
  const int64_t first = example.input.first, rows = tokens - first;
  // Before the answer the target's choices are not known: -1 is the last of index_, so it is asked
  // for token 0 there, and nobody reads it.
  example.choice = index_.index_select(0, ids(document.choices).narrow(0, first, rows).clamp_min(0));
  example.next = index_.index_select(0, each.narrow(0, first + 1, rows));
  const at::Tensor final_residual = all.narrow(0, first, rows).narrow(1, width_, hidden_);
  const at::Tensor normed = at::rms_norm(final_residual, {hidden_}, target_.final_norm, eps_);
  example.probability = at::softmax(at::linear(normed, target_.output), 1);
  return example;
}

int64_t HeadExamples::learnable_rows(const FeatureDocument& document) const {
  const auto begin = static_cast<size_t>(document.answer - 1);
  const std::span<const TokenId> choices = document.choices.subspan(begin, document.tokens.size() - 1 - begin);
  return std::ranges::count_if(choices, [&](TokenId choice) { return index_.const_data_ptr<int64_t>()[choice] >= 0; });
}

}  // namespace slipstream::train
