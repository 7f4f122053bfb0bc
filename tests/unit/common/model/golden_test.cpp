// Our forward pass against transformers in float32 over the same bf16 weights (make_golden.py).
#include <cmath>
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/checkpoint/safetensors.h"
#include "kernels/cpu/kernels.h"
#include "tests/unit/common/model/models.h"
#include "tests/unit/common/model/rows.h"

namespace slipstream {
namespace {

LanguageModel load(const std::filesystem::path& folder, CpuPath path) {
  auto target = load_alone(folder, {.threads = 2, .path = path});
  EXPECT_TRUE(target.has_value()) << target.error().message;
  return *std::move(target);
}

// Logits of every position of the sequence, fed as one chunk.
std::vector<float> logits_of(LanguageModel& target, std::span<const TokenId> tokens) {
  BlockPool pool(4);
  BlockTable blocks(pool);
  EXPECT_TRUE(blocks.reserve(static_cast<int32_t>(tokens.size())));
  Rows rows(4);
  rows.prompt(rows.sequence_of(blocks), blocks, tokens, 0);
  const auto sampled_tokens = target.run(rows.view());
  EXPECT_TRUE(sampled_tokens.has_value()) << sampled_tokens.error().message;
  return {target.logits().begin(), target.logits().end()};
}

// How far two rows of logits are apart.
struct Distance {
  double mean = 0, most = 0;
};
Distance distance(std::span<const float> ours, std::span<const float> golden) {
  Distance result;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double apart = std::abs(double{ours[i]} - golden[i]);
    result.mean += apart / static_cast<double>(ours.size());
    result.most = std::max(result.most, std::isfinite(apart) ? apart : INFINITY);
  }
  return result;
}

std::vector<float> read_floats(const TensorEntry& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

// Its matrices read activations rounded to bf16.
bool rounds(CpuPath path) { return linear_kernel(kernels(path), WeightFormat::bf16).in == Activations::bf16; }

class Golden : public testing::TestWithParam<std::tuple<const char*, CpuPath>> {};

// Logits are about 1.6 in the mean. In f32 only the order of sums differs; with activations rounded
// to bf16 (8 bits of fraction, relative error up to 2^-9 each) a two-layer model is off by about 1
// % of that.
TEST_P(Golden, LogitsEqualTransformersWithinTheRoundingOfThePath) {
  const auto [model, path] = GetParam();
  const auto golden = SafetensorsFile::open(test_data(model) / "golden.safetensors");
  ASSERT_TRUE(golden.has_value()) << golden.error().message;
  const std::vector<float> tokens = read_floats(golden->tensors().at("tokens"));
  LanguageModel target = load(test_data(model), path);
  const auto ours = logits_of(target, std::vector<TokenId>(tokens.begin(), tokens.end()));
  const auto expected = read_floats(golden->tensors().at("logits"));
  ASSERT_EQ(ours.size(), expected.size());
  const Distance apart = distance(ours, expected);
  RecordProperty("mean", std::to_string(apart.mean));
  RecordProperty("most", std::to_string(apart.most));
  EXPECT_LT(apart.mean, rounds(path) ? 0.03 : 1e-5);
  EXPECT_LT(apart.most, rounds(path) ? 0.3 : 1e-4);
}

std::string test_name(const testing::TestParamInfo<Golden::ParamType>& info) {
  std::string model = std::get<0>(info.param);
  std::erase(model, '-');
  return model + "_" + name(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(TinyModels, Golden,
                         testing::Combine(testing::Values("tiny-llama", "tiny-llama3", "tiny-qwen2", "tiny-qwen3"),
                                          testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end())),
                         test_name);

class RealGolden : public testing::TestWithParam<CpuPath> {};

// The eight highest logits of each position of a real chat; they are about 20, and two of them are
// a nat apart in the mean.
TEST_P(RealGolden, AChatsTopLogitsEqualTransformers) {
  if (!has_real_model()) GTEST_SKIP() << kNoRealModel;
  std::ifstream file(test_data("smollm2_golden.json"));
  const auto golden = nlohmann::json::parse(file);
  const auto tokens = golden.at("tokens").get<std::vector<TokenId>>();
  LanguageModel target = load(real_model(), GetParam());
  const auto ours = logits_of(target, tokens);
  const auto vocabulary = static_cast<size_t>(target.config().vocabulary);
  double error = 0;
  int agreed = 0;
  for (size_t row = 0; row < tokens.size(); ++row) {
    const std::span logits(ours.data() + row * vocabulary, vocabulary);
    const auto ids = golden.at("top_ids").at(row).get<std::vector<TokenId>>();
    const auto values = golden.at("top_logits").at(row).get<std::vector<float>>();
    for (size_t i = 0; i < ids.size(); ++i) error += std::abs(logits[static_cast<size_t>(ids[i])] - values[i]);
    agreed += std::ranges::max_element(logits) - logits.begin() == ids[0] ? 1 : 0;
  }
  error /= static_cast<double>(tokens.size() * golden.at("top_ids").at(0).size());
  RecordProperty("mean", std::to_string(error));
  RecordProperty("agreed", agreed);
  const bool coarse = rounds(GetParam());
  EXPECT_LT(error, coarse ? 0.1 : 2e-4);
  EXPECT_GE(agreed, static_cast<int>(tokens.size()) * (coarse ? 95 : 100) / 100);
}

INSTANTIATE_TEST_SUITE_P(Paths, RealGolden, testing::ValuesIn(available_cpu_paths().begin(), available_cpu_paths().end()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace slipstream
