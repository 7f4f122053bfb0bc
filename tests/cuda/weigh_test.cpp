// The twins are target_distribution() and TokenDistribution::at() of common/speculation/rejection:
// the same integers, and the same tokens.
#include "kernels/cuda/weigh.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "common/speculation/rejection/token_distribution.h"
#include "tests/cuda/tensors.h"
#include "tests/unit/kernels/cpu/random_row.h"

namespace slipstream::cuda {
namespace {

struct Case {
  std::vector<float> logits;
  SamplingParams params;
  std::vector<TokenId> tokens = {};  // ascending
};

// Rows on the device, of one vocabulary.
class Weighed {
 public:
  explicit Weighed(const std::vector<Case>& cases)
      : vocabulary_(static_cast<int32_t>(cases.front().logits.size())),
        logits_("logits", all(cases)),
        rows_("rows", rows_of(cases)),
        rules_("rules", rules_of(cases)),
        tokens_("tokens", tokens_of(cases)),
        weights_("weights", tokens_of(cases).size()),
        states_("states", cases.size()) {
    EXPECT_EQ(weigh_rows({.rows = rows_.data(),
                          .rules = rules_.data(),
                          .tokens = tokens_.data(),
                          .weights = weights_.data(),
                          .states = states_.data(),
                          .count = static_cast<int32_t>(cases.size()),
                          .vocabulary = vocabulary_},
                         nullptr),
              0)
        << take_fault();
  }
  std::vector<uint64_t> weights() const { return weights_.host(); }
  uint64_t total(size_t row) const { return states_.host()[row].usable != 0 ? states_.host()[row].total : 0; }
  TokenId at(size_t row, uint64_t mark, const std::vector<TokenId>& without) {
    DeviceArray<int32_t> skipped("without", without), token("token", 1);
    EXPECT_EQ(find_token({.row = rows_.data() + row,
                          .rule = rules_.data() + row,
                          .state = states_.data() + row,
                          .without = skipped.data(),
                          .token = token.data(),
                          .mark = mark,
                          .without_count = static_cast<int32_t>(without.size()),
                          .vocabulary = vocabulary_},
                         nullptr),
              0)
        << take_fault();
    return token.host().front();
  }

 private:
  static std::vector<float> all(const std::vector<Case>& cases) {
    std::vector<float> logits;
    for (const Case& each : cases) logits.insert(logits.end(), each.logits.begin(), each.logits.end());
    return logits;
  }
  std::vector<WeighedRow> rows_of(const std::vector<Case>& cases) {
    std::vector<WeighedRow> rows;
    int32_t first = 0;
    for (const Case& each : cases) {
      const int32_t end = first + static_cast<int32_t>(each.tokens.size());
      rows.push_back({logits_.data() + std::ssize(rows) * vocabulary_, first, end});
      first = end;
    }
    return rows;
  }
  static std::vector<RowRule> rules_of(const std::vector<Case>& cases) {
    std::vector<RowRule> rules;
    for (const auto& [logits, params, tokens] : cases) {
      rules.push_back({.temperature = params.temperature, .top_k = params.top_k, .top_p = params.top_p, .min_p = params.min_p});
    }
    return rules;
  }
  static std::vector<TokenId> tokens_of(const std::vector<Case>& cases) {
    std::vector<TokenId> tokens;
    for (const Case& each : cases) tokens.insert(tokens.end(), each.tokens.begin(), each.tokens.end());
    return tokens;
  }

  int32_t vocabulary_;
  DeviceArray<float> logits_;
  DeviceArray<WeighedRow> rows_;
  DeviceArray<RowRule> rules_;
  DeviceArray<int32_t> tokens_;
  DeviceArray<uint64_t> weights_;
  DeviceArray<RowState> states_;
};

std::vector<TokenId> some_tokens(size_t vocabulary, std::mt19937_64& random) {
  std::set<TokenId> tokens;
  for (int i = 0; i < 8; ++i) tokens.insert(static_cast<TokenId>(random() % vocabulary));
  return {tokens.begin(), tokens.end()};
}

SamplingParams random_params(std::mt19937_64& random) {
  const auto one_of = [&](std::vector<float> values) { return values[random() % values.size()]; };
  return {.temperature = one_of({0.01F, 0.7F, 1, 2}),
          .top_k = static_cast<int32_t>(one_of({0, 0, 1, 2, 40})),
          .top_p = one_of({1, 1, 0.5F, 0.9F}),
          .min_p = one_of({0, 0, 0.05F})};
}

// The twin's distribution of a row; empty: it is refused.
OwnedDistribution twin(const Case& each) {
  ChainScratch scratch;
  OwnedDistribution p;
  target_distribution(each.logits, each.params, scratch, p);
  return p;
}

void expect_twins(const std::vector<Case>& cases, std::mt19937_64& random) {
  Weighed weighed(cases);
  std::vector<uint64_t> weights;
  for (size_t row = 0; row < cases.size(); ++row) {
    const OwnedDistribution p = twin(cases[row]);
    EXPECT_EQ(weighed.total(row), p.total) << "row " << row;
    uint64_t left = p.total;
    for (const TokenId token : cases[row].tokens) {
      weights.push_back(p.view().weight(token));
      left -= weights.back();
    }
    if (left == 0) continue;
    const std::vector<uint64_t> marks{0, left - 1, random() % left};
    for (const uint64_t mark : marks) {
      EXPECT_EQ(weighed.at(row, mark, cases[row].tokens), p.view().at(mark, cases[row].tokens)) << row << ", " << mark;
    }
    EXPECT_EQ(weighed.at(row, p.total - 1, {}), p.view().at(p.total - 1, {}));
  }
  EXPECT_EQ(weighed.weights(), weights);
}

TEST(CudaWeigh, EqualsItsCpuTwinsToTheBit) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 60; ++i) {
    const std::vector<float> logits = random_row(random);
    expect_twins({{logits, random_params(random), some_tokens(logits.size(), random)}}, random);
  }
}

TEST(CudaWeigh, WeighsEachRowByItsOwnRuleAndTokens) {
  std::mt19937_64 random(2);
  std::normal_distribution<float> normal(0, 3);
  std::vector<Case> cases;
  for (int row = 0; row < 5; ++row) {
    Case& made = cases.emplace_back();
    for (int token = 0; token < 3001; ++token) made.logits.push_back(normal(random));
    made.params = random_params(random);
    made.tokens = row == 3 ? std::vector<TokenId>{} : some_tokens(3001, random);
  }
  cases[1].logits[7] = NAN;  // refused
  cases[1].params = {.temperature = 1};
  expect_twins(cases, random);
}

TEST(CudaWeigh, FindsNoTokenBehindTheEndOfTheWeights) {
  const Case both{{1, 1, -INFINITY}, {.temperature = 1}, {0}};
  Weighed weighed({both});
  const uint64_t each = twin(both).weights[0];
  EXPECT_EQ(weighed.at(0, each - 1, {}), 0);
  EXPECT_EQ(weighed.at(0, each, {}), 1);
  EXPECT_EQ(weighed.at(0, 2 * each, {}), -1);
  EXPECT_EQ(weighed.at(0, 0, {0}), 1);
}

}  // namespace
}  // namespace slipstream::cuda
