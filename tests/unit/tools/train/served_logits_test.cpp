// What is trained is what is served: the module's logits beside those of the network on the cpu
// device, from the same files.
#include <cmath>
#include <cstring>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "tests/unit/common/model/logits_of.h"
#include "tests/unit/common/model/models.h"
#include "tools/train/llama_module.h"

namespace slipstream::train {
namespace {

constexpr int kTokens = 96;

std::vector<TokenId> some_tokens(int32_t vocabulary) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < kTokens; ++i) tokens.push_back((7 + i * i * 31) % vocabulary);
  return tokens;
}

// The fastest path that computes on activations in f32.
CpuPath exact_path() { return std::min(best_cpu_path(), CpuPath::avx512_vnni); }

std::vector<float> served_logits(const std::filesystem::path& model, CpuPath path, std::span<const TokenId> tokens) {
  return logits_of(model, {.threads = 2, .path = path, .weights = WeightFormat::bf16}, tokens);
}

std::vector<float> trained_logits(const std::filesystem::path& model, at::ScalarType compute, std::span<const TokenId> tokens) {
  const at::NoGradGuard no_gradients;
  const LlamaConfig config = read_llama_config(model).value();
  const auto weights = Weights::load(Checkpoint::open(model).value(), llama_tensors(config));
  EXPECT_TRUE(weights.has_value()) << weights.error().message;
  if (!weights) return {};
  const LlamaModule module(config, *weights, kTokens, compute);
  const at::Tensor ids = at::tensor(std::vector<int64_t>(tokens.begin(), tokens.end())).view({1, kTokens});
  const at::Tensor logits = module.logits(module.hidden(ids)).contiguous();
  const std::span all(logits.const_data_ptr<float>(), static_cast<size_t>(logits.numel()));
  return {all.begin(), all.end()};
}

struct Distance {
  double mean = 0, most = 0;
};
Distance distance(std::span<const float> ours, std::span<const float> others) {
  EXPECT_EQ(ours.size(), others.size());
  Distance result;
  for (size_t i = 0; i < std::min(ours.size(), others.size()); ++i) {
    const double apart = std::abs(double{ours[i]} - others[i]);
    result.mean += apart / static_cast<double>(ours.size());
    result.most = std::max(result.most, std::isfinite(apart) ? apart : INFINITY);
  }
  testing::Test::RecordProperty("mean", std::to_string(result.mean));
  testing::Test::RecordProperty("most", std::to_string(result.most));
  return result;
}

class TinyModel : public testing::TestWithParam<const char*> {
 protected:
  std::vector<TokenId> tokens() const { return some_tokens(read_llama_config(model()).value().vocabulary); }
  std::filesystem::path model() const { return test_data(GetParam()); }
};

// In f32 only the order of sums differs. Logits are about 1.6 in the mean.
TEST_P(TinyModel, HasTheServedLogitsInF32) {
  const auto ids = tokens();
  const Distance apart = distance(trained_logits(model(), at::kFloat, ids), served_logits(model(), exact_path(), ids));
  EXPECT_LT(apart.mean, 1e-5);
  EXPECT_LT(apart.most, 1e-4);
}

// Activations are rounded to 8 bits of fraction on both sides, at places that differ.
TEST_P(TinyModel, HasTheServedLogitsInBf16WithinItsRounding) {
  const auto ids = tokens();
  const Distance apart = distance(trained_logits(model(), at::kBFloat16, ids), served_logits(model(), best_cpu_path(), ids));
  EXPECT_LT(apart.mean, 0.03);
  EXPECT_LT(apart.most, 0.3);
}

INSTANTIATE_TEST_SUITE_P(Families, TinyModel, testing::Values("tiny-llama", "tiny-llama3", "tiny-qwen2", "tiny-qwen3"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// Logits are about 20 at the top; 30 layers add up more orders of sums than two do.
TEST(RealModel, HasTheServedLogitsInF32) {
  if (!has_real_model()) GTEST_SKIP() << kNoRealModel;
  const auto ids = some_tokens(49152);
  const Distance apart =
      distance(trained_logits(real_model(), at::kFloat, ids), served_logits(real_model(), exact_path(), ids));
  EXPECT_LT(apart.mean, 2e-4);
  EXPECT_LT(apart.most, 5e-3);
}

// The 4-bit file is read to the same floats as the folder that was made of it.
TEST(RealModel, HasTheWeightsOfItsFolderFromItsFile) {
  if (!has_real_model() || !std::filesystem::exists(real_gguf())) GTEST_SKIP() << kNoRealGguf;
  const auto tensors = llama_tensors(read_llama_config(real_gguf()).value());
  const Weights file = Weights::load(Checkpoint::open(real_gguf()).value(), tensors).value();
  const Weights folder = Weights::load(Checkpoint::open(real_model()).value(), tensors).value();
  for (const Parameter& parameter : file.all()) {
    ASSERT_TRUE(parameter.value.to(at::kBFloat16).equal(folder.at(parameter.spec.name).to(at::kBFloat16)))
        << parameter.spec.name;
  }
}

}  // namespace
}  // namespace slipstream::train
