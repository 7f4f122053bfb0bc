// The logits after a prompt, from a model on a device of its own.
#pragma once

#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/common/model/models.h"
#include "tests/unit/common/model/rows.h"

namespace slipstream {

// [tokens, vocabulary] after each token. The test fails if the model cannot be run.
inline std::vector<float> logits_of(Result<LanguageModel> target, std::span<const TokenId> tokens) {
  EXPECT_TRUE(target.has_value()) << target.error().message;
  if (!target) return {};
  BlockPool pool(4);
  BlockTable blocks(pool);
  EXPECT_TRUE(blocks.reserve(static_cast<int32_t>(tokens.size())));
  Rows rows(4);
  rows.prompt(rows.sequence_of(blocks), blocks, tokens, 0);
  const auto sampled_tokens = target->run(rows.view());
  EXPECT_TRUE(sampled_tokens.has_value()) << sampled_tokens.error().message;
  return {target->logits().begin(), target->logits().end()};
}

inline std::vector<float> logits_of(const std::filesystem::path& model, const CpuOptions& computes,
                                    std::span<const TokenId> tokens) {
  return logits_of(load_alone(model, computes), tokens);
}

}  // namespace slipstream
