#include "services/verifier/grammar_draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/grammars.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

constexpr StopRule kLarge{.nodes_max = 40, .depth_max = 20, .threshold = 1.0F};

TokenTree guesses(std::string_view regex, const StopRule& rule = kLarge) {
  GrammarGuide guide(std::make_shared<const Grammar>(grammar_of(GrammarForm::regex, regex)), {kSmallEnd});
  return grammar_tree(guide, rule);
}

// The texts of a tree's leaves, the end of the answer as a full stop.
std::vector<std::string> leaves(const TokenTree& tree) {
  std::vector<std::string> texts, all;
  std::vector<bool> leaf(static_cast<size_t>(tree.size()), true);
  for (const TreeNode& node : tree.nodes()) {
    const std::string own = node.token == kSmallEnd ? "." : small_text({node.token});
    all.push_back((node.parent == kRoot ? "" : all[static_cast<size_t>(node.parent)]) + own);
    if (node.parent != kRoot) leaf[static_cast<size_t>(node.parent)] = false;
  }
  for (size_t at = 0; at < all.size(); ++at) {
    if (leaf[at]) texts.push_back(all[at]);
  }
  return texts;
}

TEST(GrammarDraftTest, IsCertainOfATextThatIsForcedUpToItsEnd) {
  const TokenTree tree = guesses("on the way");
  EXPECT_THAT(leaves(tree), ElementsAre("on the way."));
  for (const TreeNode& node : tree.nodes()) EXPECT_EQ(node.survival, 1.0F);
}

TEST(GrammarDraftTest, GuessesEachOfAFewTokensAndWhatIsForcedBehindIt) {
  const TokenTree tree = guesses("[xyz]( 1|-2)q");
  EXPECT_EQ(leaves(tree).size(), 6U);
  for (const TreeNode& node : tree.nodes()) {
    EXPECT_TRUE(node.parent != kRoot || node.survival == 1.0F / 3) << node.survival;
  }
}

TEST(GrammarDraftTest, GuessesNothingWhereTheModelHasAChoice) { EXPECT_TRUE(guesses("[a-z]+").empty()); }

TEST(GrammarDraftTest, GrowsTheLikeliestFirstWithinTheRule) {
  EXPECT_EQ(guesses("on the way", {.nodes_max = 2, .depth_max = 20}).size(), 2);
  EXPECT_EQ(guesses("on the way", {.nodes_max = 20, .depth_max = 1}).size(), 1);
  EXPECT_TRUE(guesses("[xyz]q", {.nodes_max = 20, .depth_max = 20, .threshold = 0.5F}).empty())
      << "each has a chance of a third";
  EXPECT_TRUE(guesses("on the way", {.nodes_max = 0, .depth_max = 20}).empty());
}

}  // namespace
}  // namespace slipstream
