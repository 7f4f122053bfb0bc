// Logits of transformers in float32 over the same weights (make_golden.py), and how far others are
// from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/base/ids.h"
#include "common/checkpoint/safetensors.h"
#include "tests/unit/common/model/models.h"

namespace slipstream {

// How far two rows of logits are apart.
struct Distance {
  double mean = 0, most = 0;
};
inline Distance distance(std::span<const float> ours, std::span<const float> golden) {
  Distance result;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double apart = std::abs(double{ours[i]} - golden[i]);
    result.mean += apart / static_cast<double>(ours.size());
    result.most = std::max(result.most, std::isfinite(apart) ? apart : INFINITY);
  }
  return result;
}

inline std::vector<float> read_floats(const TensorEntry& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

// Of a tiny model: every logit after every token of a sequence. They are about 1.6 in the mean.
struct GoldenLogits {
  std::vector<TokenId> tokens;
  std::vector<float> logits;  // [tokens, vocabulary]
};
inline GoldenLogits golden_logits(const char* model) {
  const auto file = SafetensorsFile::open(test_data(model) / "golden.safetensors").value();
  const std::vector<float> tokens = read_floats(file.tensors().at("tokens"));
  return {.tokens = {tokens.begin(), tokens.end()}, .logits = read_floats(file.tensors().at("logits"))};
}

// Of the real model: the eight highest logits after each token of a chat. They are about 20, and
// two of them are a nat apart in the mean.
class GoldenChat {
 public:
  GoldenChat() {
    std::ifstream file(test_data("smollm2_golden.json"));
    golden_ = nlohmann::json::parse(file);
    tokens = golden_.at("tokens").get<std::vector<TokenId>>();
  }
  struct Agreement {
    double error = 0;  // of a logit in the mean
    int agreed = 0;    // tokens after which the highest is the same
  };
  Agreement with(std::span<const float> ours) const {
    Agreement result;
    const size_t vocabulary = ours.size() / tokens.size(), listed = golden_.at("top_ids").at(0).size();
    for (size_t row = 0; row < tokens.size(); ++row) {
      const auto logits = ours.subspan(row * vocabulary, vocabulary);
      const auto ids = golden_.at("top_ids").at(row).get<std::vector<TokenId>>();
      const auto values = golden_.at("top_logits").at(row).get<std::vector<float>>();
      for (size_t i = 0; i < listed; ++i) result.error += std::abs(logits[static_cast<size_t>(ids[i])] - values[i]);
      result.agreed += std::ranges::max_element(logits) - logits.begin() == ids[0] ? 1 : 0;
    }
    result.error /= static_cast<double>(tokens.size() * listed);
    return result;
  }
  std::vector<TokenId> tokens;

 private:
  nlohmann::json golden_;
};

}  // namespace slipstream
