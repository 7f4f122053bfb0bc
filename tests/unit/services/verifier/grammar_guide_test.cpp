#include "services/verifier/grammar_guide.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/grammars.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

GrammarGuide guide(std::string_view regex) {
  return {std::make_shared<const Grammar>(grammar_of(GrammarForm::regex, regex)), {kSmallEnd}};
}

TokenId id(std::string_view letter) { return small_ids(letter).at(0); }

TokenTree tree(std::vector<TreeNode> nodes) { return *TokenTree::make(std::move(nodes), small_vocabulary()); }

TEST(GrammarGuideTest, GivesEachRowOfATreeTheMaskOfItsOwnPath) {
  GrammarGuide after = guide("a[bc]|x[yz]");
  const auto masks = after.masks(tree({{id("a"), kRoot}, {id("x"), kRoot}, {id("b"), 0}}));
  ASSERT_EQ(masks.size(), 4U);
  EXPECT_TRUE(masks[0]->get()->allows(id("a")) && masks[0]->get()->allows(id("x")) && !masks[0]->get()->allows(id("b")));
  EXPECT_TRUE(masks[1]->get()->allows(id("b")) && !masks[1]->get()->allows(id("y")));
  EXPECT_TRUE(masks[2]->get()->allows(id("y")) && !masks[2]->get()->allows(id("b")));
  EXPECT_THAT(masks[3]->get()->tokens(), ElementsAre(kSmallEnd));
}

TEST(GrammarGuideTest, MakesNoMaskOfARowBeforeSomebodyNeedsIt) {
  GrammarGuide after = guide("[a-z][bc]d");
  ASSERT_TRUE(after.advance(std::vector{id("a")}));
  const TokenTree guessed = tree({{id("b"), kRoot}});
  ASSERT_THAT(after.allowed_nodes(guessed), ElementsAre(0));
  const auto masks = after.masks(guessed);
  EXPECT_TRUE(masks[0]->made()) << "it says whether the node is allowed";
  EXPECT_FALSE(masks[1]->made()) << "nothing hangs from the leaf";
  EXPECT_THAT(masks[1]->get()->tokens(), ElementsAre(id("d")));
}

TEST(GrammarGuideTest, GivesMasksOnAnotherThreadAlsoWhenTheSequenceHasEnded) {
  std::vector<std::shared_ptr<const RowMask>> masks;
  {
    GrammarGuide after = guide("ab?");
    ASSERT_TRUE(after.advance(std::vector{id("a")}));
    masks = after.masks(tree({}));
  }
  std::jthread([&] { masks[0]->get(); }).join();
  ASSERT_TRUE(masks[0]->made());
  EXPECT_TRUE(masks[0]->get()->allows(id("b")) && masks[0]->get()->allows(kSmallEnd));
}

TEST(GrammarGuideTest, KnowsNothingBehindWhatIsForbidden) {
  GrammarGuide after = guide("ab");
  const auto masks = after.masks(tree({{id("x"), kRoot}, {id("b"), 0}}));
  EXPECT_EQ(masks[1]->get(), nullptr);
  EXPECT_EQ(masks[2]->get(), nullptr);
  EXPECT_TRUE(after.why_unknown()) << "that says nothing about the output";
}

TEST(GrammarGuideTest, CutsWhatIsForbiddenAndAllThatHangsFromIt) {
  GrammarGuide after = guide("a[bc]d");
  EXPECT_THAT(
      after.allowed_nodes(tree({{id("x"), kRoot}, {id("a"), kRoot}, {id("b"), 0}, {id("c"), 1}, {id("x"), 1}, {id("d"), 3}})),
      ElementsAre(1, 3, 5));
}

TEST(GrammarGuideTest, AllowsTheEndAndNothingBehindIt) {
  GrammarGuide after = guide("a+");
  ASSERT_TRUE(after.advance(std::vector{id("a")}));
  const TokenTree ends = tree({{kSmallEnd, kRoot}, {id("a"), 0}});
  EXPECT_THAT(after.allowed_nodes(ends), ElementsAre(0));
  EXPECT_EQ(after.masks(ends)[1], nullptr) << "no token is looked for there";
}

TEST(GrammarGuideTest, FollowsTheOutputNotTheDrafts) {
  GrammarGuide after = guide("a[bc]d");
  after.masks(tree({{id("a"), kRoot}, {id("b"), 0}}));
  ASSERT_TRUE(after.advance(std::vector{id("a")}));
  EXPECT_TRUE(after.allowed_after({})->allows(id("c")));
  ASSERT_TRUE(after.advance(std::vector{id("c")}));
  EXPECT_THAT(after.allowed_after({})->tokens(), ElementsAre(id("d")));
}

TEST(GrammarGuideTest, IsFollowedByACopyOnAnotherThread) {
  GrammarGuide after = guide("a[bc]d");
  std::jthread([copy = after]() mutable { EXPECT_TRUE(copy.follow(std::vector{id("a")})); }).join();
  const auto masks = after.masks(tree({}));
  EXPECT_TRUE(masks[0]->made());
  EXPECT_TRUE(masks[0]->get()->allows(id("c")));
  EXPECT_FALSE(after.shared()) << "the copy is gone";
}

TEST(GrammarGuideTest, TellsTheWorkOfTheMasksSinceTheOutputLastGrew) {
  GrammarGuide after = guide("[a-z]+");
  ASSERT_TRUE(after.advance(std::vector{id("a")}));
  EXPECT_EQ(after.work_ns(), 0U);
  after.masks(tree({}))[0]->get();
  const uint64_t one = after.work_ns();
  EXPECT_GT(one, 0U);
  ASSERT_TRUE(after.advance({}));
  EXPECT_EQ(after.work_ns(), one) << "it has not grown";
  ASSERT_TRUE(after.advance(std::vector{id("b")}));
  EXPECT_EQ(after.work_ns(), 0U);
}

TEST(GrammarGuideTest, SaysWhyItNoLongerKnowsWhatMayFollow) {
  GrammarGuide after = guide("ab");
  EXPECT_FALSE(after.advance(std::vector{id("x")}));
  EXPECT_FALSE(after.why_unknown());
  EXPECT_EQ(after.allowed_after({}), nullptr);
  EXPECT_THAT(after.allowed_nodes(tree({{id("a"), kRoot}})), IsEmpty());
}

}  // namespace
}  // namespace slipstream
