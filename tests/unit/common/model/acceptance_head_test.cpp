// An acceptance head predicts what its formula gives, and belongs to one drafter.
#include "common/model/heads/acceptance_head.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/fingerprint.h"
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

// The formula of the header, of an acceptance head whose numbers are number(i).
double formula(std::span<const float> state, size_t column, double confidence) {
  std::vector<double> x(state.begin(), state.end());
  for (size_t out = 0; out < kHidden; ++out) {
    double sum = number(out);
    for (size_t in = 0; in < kHidden; ++in) sum += double{number(kHidden + out * kHidden + in)} * double{state[in]};
    x[out] += sum / (1 + std::exp(-sum));
  }
  const size_t bias = kHidden + kHidden * kHidden, weights = bias + 2, stated = weights + 2 * kHidden;
  double z = number(bias + column);
  for (size_t in = 0; in < kHidden; ++in) z += number(weights + column * kHidden + in) * x[in];
  return 1 / (1 + std::exp(-(z + number(stated + column) * std::log(confidence / (1 - confidence)))));
}

// Whether a model predicts that of its last pass, which had these states.
void expect_formula(const LanguageModel& model, std::span<const float> states) {
  ASSERT_TRUE(model.predicts_acceptance());
  for (size_t row = 0; row < states.size() / kHidden; ++row) {
    for (size_t column = 0; column < 2; ++column) {
      for (const double confidence : {0.2, 0.5, 0.9}) {
        EXPECT_NEAR(model.acceptance(row, static_cast<float>(confidence), column == 1),
                    formula(states.subspan(row * kHidden, kHidden), column, confidence), 0.01)
            << row;
      }
    }
  }
}

class AcceptanceHeadTest : public testing::Test {
 protected:
  AcceptanceHeadTest() { folder_.copy(test_data("tiny-head")); }
  void write() { write(draft_head_hash(folder_.path()).value()); }
  void write(uint64_t draft_head) { write_acceptance_head(folder_.path(), draft_head, kHidden, number); }
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
  write();
  LanguageModel model = load().value();
  drafted(model);
  EXPECT_EQ(model.drafted_states().size(), 3U * kHidden);
  expect_formula(model, model.drafted_states());
}

TEST_F(AcceptanceHeadTest, ChangesNoGuess) {
  LanguageModel without = load().value();
  EXPECT_FALSE(without.predicts_acceptance());
  const TokenId guess = drafted(without);
  write();
  LanguageModel with = load().value();
  EXPECT_EQ(drafted(with), guess);
}

TEST_F(AcceptanceHeadTest, OfAnotherDrafterIsRefused) {
  write(0x0123456789abcdef);
  const auto loaded = load();
  ASSERT_FALSE(loaded.has_value());
  EXPECT_THAT(loaded.error().message, HasSubstr("another drafter (0123456789abcdef"));
  EXPECT_THAT(loaded.error().message, HasSubstr("slipstream-train acceptance"));
}

// A small model and what it reads of a prompt, of which two rows are wanted.
class AcceptanceOfASmallModel : public testing::Test {
 protected:
  AcceptanceOfASmallModel() { folder_.copy(test_data("tiny-llama")); }
  uint64_t hash() const { return hash_weights(folder_.path(), read_llama_config(folder_.path()).value()).value(); }
  Result<LanguageModel> load(bool acceptance) const {
    return load_alone(folder_.path(), {.path = CpuPath::portable, .weights = WeightFormat::bf16},
                      {.cache_blocks = 4, .ranked = 2, .acceptance = acceptance, .traced = true});
  }
  static std::vector<Ranked> read(LanguageModel& model) {
    BlockPool pool(4);
    BlockTable blocks(pool);
    EXPECT_TRUE(blocks.reserve(8));
    StepPlan plan;
    plan.blocks_max = 4;
    plan.add_sequence(blocks.blocks());
    for (int32_t at = 0; at < 5; ++at) {
      plan.add({.token = 9 + at, .position = at, .slot = blocks.slot(at), .visible = at + 1});
      if (at == 1 || at == 4) plan.want({});
    }
    EXPECT_TRUE(model.run(plan.view()).has_value());
    std::vector<Ranked> ranked;
    for (size_t row = 0; row < 2; ++row) ranked.insert(ranked.end(), model.ranked(row).begin(), model.ranked(row).end());
    return ranked;
  }

  Folder folder_;
};

TEST_F(AcceptanceOfASmallModel, ReadsTheStatesOfItsWantedRowsAndChangesNoGuess) {
  LanguageModel without = load(true).value();
  EXPECT_FALSE(without.predicts_acceptance());
  const std::vector<Ranked> guesses = read(without);
  write_acceptance_head(folder_.path(), hash(), kHidden, number);
  LanguageModel with = load(true).value();
  const std::vector<Ranked> same = read(with);
  ASSERT_EQ(same.size(), guesses.size());
  for (size_t i = 0; i < same.size(); ++i) EXPECT_EQ(same[i].token, guesses[i].token);
  EXPECT_EQ(with.states().size(), 2U * kHidden);
  expect_formula(with, with.states());
  EXPECT_FALSE(load(false)->predicts_acceptance());
}

TEST_F(AcceptanceOfASmallModel, OfOtherWeightsIsRefused) {
  write_acceptance_head(folder_.path(), hash() + 1, kHidden, number);
  EXPECT_THAT(load(true).error().message, HasSubstr("another drafter"));
  EXPECT_TRUE(load(false).has_value());
}

TEST_F(AcceptanceOfASmallModel, ThatLacksItsFileIsRefused) {
  std::filesystem::create_directories(acceptance_folder(folder_.path()));
  EXPECT_THAT(load(true).error().message, HasSubstr("holds no acceptance head"));
}

TEST(AcceptanceFolder, LiesInAFolderAndBesideAFile) {
  const Folder folder;
  folder.write("model.gguf", "");
  EXPECT_EQ(acceptance_folder(folder.path()), folder.path() / "acceptance");
  EXPECT_EQ(acceptance_folder(folder.path() / "model.gguf"), folder.path() / "model.gguf-acceptance");
}

TEST(LogitOfConfidence, IsFiniteAtBothEnds) {
  EXPECT_FLOAT_EQ(logit_of_confidence(0.75F), std::log(3.0F));
  EXPECT_LT(logit_of_confidence(0), -10);
  EXPECT_GT(logit_of_confidence(1), 10);
  EXPECT_TRUE(std::isfinite(logit_of_confidence(0)) && std::isfinite(logit_of_confidence(1)));
}

}  // namespace
}  // namespace slipstream
