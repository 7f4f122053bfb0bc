// An acceptance head predicts what its formula gives, and belongs to one draft head.
#include "common/model/heads/acceptance_head.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kv/block_pool.h"
#include "tests/unit/common/checkpoint/folder.h"
#include "tests/unit/common/model/acceptance_file.h"
#include "tests/unit/common/model/models.h"
#include "tests/unit/common/model/rows.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

constexpr int32_t kHidden = 32;

// A number of a made-up tensor that bf16 holds exactly.
float number(size_t at) { return static_cast<float>(static_cast<int>(at * 37 % 101) - 50) / 128; }

class AcceptanceHeadTest : public testing::Test {
 protected:
  AcceptanceHeadTest() { folder_.copy(test_data("tiny-head")); }
  void write(const std::string& draft_head) { write_acceptance_head(folder_.path(), draft_head, kHidden, number); }
  Result<LanguageModel> load() const {
    return load_alone(test_data("tiny-llama"), {.path = CpuPath::portable, .weights = WeightFormat::bf16},
                      {.cache_blocks = 4, .head = folder_.path(), .head_traced = true});
  }
  // Drafts behind a prompt, and returns what the head guesses first.
  static TokenId drafted(LanguageModel& model) {
    BlockPool pool(4);
    BlockTable blocks(pool);
    EXPECT_TRUE(blocks.reserve(40));
    const std::vector<TokenId> prompt{5, 9, 33, 12, 7};
    Rows rows(4);
    rows.prompt(rows.sequence_of(blocks), blocks, prompt, 0);
    EXPECT_TRUE(model.run(rows.view()).has_value());
    Rows tree(4);
    const std::vector<TreeNode> nodes{{.token = 21, .parent = kRoot}, {.token = 8, .parent = 0}};
    tree.tree(tree.sequence_of(blocks), blocks, 5, 40, nodes);
    EXPECT_TRUE(model.draft(tree.view()).has_value());
    return model.drafted(2).front().token;
  }

  Folder folder_;
};

TEST_F(AcceptanceHeadTest, PredictsWhatItsFormulaGives) {
  write(fmt::format("{:016x}", draft_head_hash(folder_.path()).value()));
  LanguageModel model = load().value();
  drafted(model);
  ASSERT_TRUE(model.predicts_acceptance());
  for (size_t row = 0; row < 3; ++row) {
    const auto state = model.drafted_states().subspan(row * kHidden, kHidden);
    const auto weight = [](size_t out, size_t in) { return double{number(kHidden + out * kHidden + in)}; };
    std::vector<double> x(state.begin(), state.end());
    for (size_t out = 0; out < kHidden; ++out) {
      double sum = number(out);
      for (size_t in = 0; in < kHidden; ++in) sum += weight(out, in) * double{state[in]};
      x[out] += sum / (1 + std::exp(-sum));
    }
    const size_t bias = kHidden + kHidden * kHidden, weights = bias + 2, stated = weights + 2 * kHidden;
    for (size_t column = 0; column < 2; ++column) {
      double z = number(bias + column);
      for (size_t in = 0; in < kHidden; ++in) z += number(weights + column * kHidden + in) * x[in];
      for (const double confidence : {0.2, 0.5, 0.9}) {
        const double sum = z + number(stated + column) * std::log(confidence / (1 - confidence));
        EXPECT_NEAR(model.acceptance(row, static_cast<float>(confidence), column == 1), 1 / (1 + std::exp(-sum)), 0.01) << row;
      }
    }
  }
}

TEST_F(AcceptanceHeadTest, ChangesNoGuess) {
  LanguageModel without = load().value();
  EXPECT_FALSE(without.predicts_acceptance());
  const TokenId guess = drafted(without);
  write(fmt::format("{:016x}", draft_head_hash(folder_.path()).value()));
  LanguageModel with = load().value();
  EXPECT_EQ(drafted(with), guess);
}

TEST_F(AcceptanceHeadTest, OfAnotherDraftHeadIsRefused) {
  write("0123456789abcdef");
  const auto loaded = load();
  ASSERT_FALSE(loaded.has_value());
  EXPECT_THAT(loaded.error().message, HasSubstr("another draft head"));
  EXPECT_THAT(loaded.error().message, HasSubstr("slipstream-train acceptance"));
}

TEST(LogitOfConfidence, IsFiniteAtBothEnds) {
  EXPECT_FLOAT_EQ(logit_of_confidence(0.75F), std::log(3.0F));
  EXPECT_LT(logit_of_confidence(0), -10);
  EXPECT_GT(logit_of_confidence(1), 10);
  EXPECT_TRUE(std::isfinite(logit_of_confidence(0)) && std::isfinite(logit_of_confidence(1)));
}

}  // namespace
}  // namespace slipstream
