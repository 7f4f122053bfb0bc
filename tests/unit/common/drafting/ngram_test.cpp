#include "common/drafting/ngram.h"

#include <gtest/gtest.h>

#include "common/speculation/ngram_guess.h"
#include "tests/unit/common/config/surroundings.h"

namespace slipstream {
namespace {

const DraftKey kKey{Peer{1}, SequenceId{7, 1}};
const DraftKey kOtherKey{Peer{2}, SequenceId{7, 1}};

std::vector<TokenId> tokens_of(const TokenTree& tree) {
  std::vector<TokenId> tokens;
  for (const TreeNode& node : tree.nodes()) tokens.push_back(node.token);
  return tokens;
}

class Ngram : public testing::Test {
 protected:
  void begin(const DraftKey& key, const std::vector<TokenId>& tokens) {
    method.begin(key, {});
    method.advance(key, tokens);
  }
  TokenTree draft(const DraftKey& key, const StopRule& rule = {}) {
    const std::vector<DraftAsk> asks{{key, rule}};
    return method.draft(asks)->at(0).value().tokens();
  }
  NgramMethod method;
};

TEST_F(Ngram, DraftsWhatFollowedBefore) {
  begin(kKey, {1, 2, 3, 4, 5, 9, 1, 2});
  EXPECT_EQ(tokens_of(draft(kKey, {.nodes_max = 3})), (std::vector<TokenId>{3, 4, 5}));
}

TEST_F(Ngram, DraftsNothingThatItNeverSaw) {
  begin(kKey, {1, 2, 3, 4, 5});
  EXPECT_TRUE(draft(kKey).empty());
}

TEST_F(Ngram, IsSurerOfALongerMatch) {
  begin(kKey, {1, 2, 3, 9, 1, 2});
  begin(kOtherKey, {1, 2, 3, 4, 5, 6, 9, 1, 2, 3, 4, 5});
  EXPECT_LT(draft(kKey).nodes()[0].survival, draft(kOtherKey).nodes()[0].survival);
}

TEST_F(Ngram, MultipliesSurvivalAlongAPath) {
  begin(kKey, {1, 2, 3, 4, 9, 1, 2});
  NgramCounts text;
  text.append(std::vector<TokenId>{1, 2, 3, 4, 9, 1, 2});
  const auto guessed = [&](const std::vector<TokenId>& path) {
    return guess(text.context(path), {.texts = {&text}, .corpora = {}})[0].confidence;
  };
  const float first = guessed({}), second = guessed({3});
  const TokenTree tree = draft(kKey);
  EXPECT_FLOAT_EQ(tree.nodes()[0].survival, first);
  EXPECT_FLOAT_EQ(tree.nodes()[1].survival, first * second);
}

TEST_F(Ngram, BranchesWhereTheTextDid) {
  begin(kKey, {1, 2, 3, 8, 1, 2, 4, 9, 1, 2});
  const TokenTree tree = draft(kKey, {.nodes_max = 2});
  EXPECT_EQ(tokens_of(tree), (std::vector<TokenId>{4, 3}));
  EXPECT_EQ(tree.nodes()[1].parent, kRoot);
}

TEST_F(Ngram, DraftsAChainForARuleThatNeedsProbabilities) {
  method.begin(kKey, {.acceptance = {.rule = Rule::ratio}});
  method.advance(kKey, std::vector<TokenId>{1, 2, 3, 8, 1, 2, 4, 9, 1, 2});
  const DraftTree tree = method.draft(std::vector<DraftAsk>{{kKey, {.nodes_max = 2}}})->at(0).value();
  EXPECT_TRUE(tree.sampled());
  EXPECT_EQ(tokens_of(tree.tokens()), (std::vector<TokenId>{4, 9}));
  EXPECT_EQ(tree.nodes()[1].parent, 0);
}

// After 1 came 3, and after 3 as often 5 as 6. A target that samples one of these two takes the one
// with the larger noise.
TEST_F(Ngram, OfACoupledRequestPrefersWhatTheNoiseOfItsPositionPrefers) {
  const std::vector<TokenId> prompt{9, 1, 3, 5, 9, 1, 3, 6, 9};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto length = static_cast<int32_t>(prompt.size());
    method.begin(kKey, {.prompt_length = length, .seed = seed, .choice = 2, .acceptance = {.rule = Rule::coupled}});
    method.advance(kKey, prompt);
    method.advance(kKey, std::vector<TokenId>{1});  // the first of the output: 3 has position 1, what follows it position 2
    const NoiseKey key{.seed = seed, .choice = 2, .position = 2};
    const TokenId preferred = gumbel(key, 5) > gumbel(key, 6) ? 5 : 6;
    const TokenTree tree = draft(kKey, {.nodes_max = 63});
    const int node = tree.child(tree.child(kRoot, 3), preferred);
    ASSERT_GE(node, 0);
    for (const TreeNode& other : tree.nodes()) {
      if (other.parent == tree.nodes()[static_cast<size_t>(node)].parent) {
        EXPECT_LE(other.survival, tree.nodes()[static_cast<size_t>(node)].survival) << "seed " << seed;
      }
    }
  }
}

TEST_F(Ngram, StopsWhereTheThresholdSays) {
  begin(kKey, {1, 2, 3, 4, 5, 6, 9, 1, 2});
  const float first = draft(kKey, {.nodes_max = 1}).nodes()[0].survival;
  EXPECT_EQ(draft(kKey, {.threshold = 1 - first + 0.01F}).size(), 1);
  EXPECT_EQ(draft(kKey, {.threshold = 1 - first - 0.01F}).size(), 0);
}

TEST_F(Ngram, StopsAtItsBudgetOfNodesAndDepth) {
  begin(kKey, {1, 2, 3, 4, 5, 6, 9, 1, 2});
  EXPECT_EQ(draft(kKey, {.nodes_max = 2}).size(), 2);
  EXPECT_EQ(draft(kKey, {.depth_max = 3}).depth(), 3);
  EXPECT_EQ(draft(kKey, {.nodes_max = 0}).size(), 0);
}

TEST_F(Ngram, KeepsSequencesApart) {
  begin(kKey, {1, 2, 3, 9, 1, 2});
  begin(kOtherKey, {1, 2, 7, 9, 1, 2});
  EXPECT_EQ(draft(kKey).nodes()[0].token, 3);
  EXPECT_EQ(draft(kOtherKey).nodes()[0].token, 7);
}

TEST_F(Ngram, ForgetsWhatCameBeforeABegin) {
  begin(kKey, {1, 2, 3, 9, 1, 2});
  begin(kKey, {1, 2});
  EXPECT_TRUE(draft(kKey).empty());
}

// An answer of 4 5 6 behind a prompt that ends in 3; then a fresh request, of the tenants given.
TokenTree draft_after_an_answer(LookUp look_up, TenantId first, TenantId second) {
  NgramMethod method(std::make_shared<LookUpTexts>(look_up));
  method.begin(kKey, {.prompt_length = 3, .tenant = first});
  method.advance(kKey, std::vector<TokenId>{1, 2, 3});
  method.advance(kKey, std::vector<TokenId>{4, 5, 6});
  method.end(kKey);
  method.begin(kOtherKey, {.prompt_length = 3, .tenant = second});
  method.advance(kOtherKey, std::vector<TokenId>{8, 2, 3});
  return method.draft(std::vector<DraftAsk>{{kOtherKey, {}}})->at(0).value().tokens();
}

TEST(LookUp, FindsWhatTheSameTenantWasAnsweredBefore) {
  EXPECT_EQ(tokens_of(draft_after_an_answer(LookUp::tenant, 7, 7)), (std::vector<TokenId>{4, 5, 6}));
}

TEST(LookUp, NeverFindsWhatAnotherTenantWasAnswered) {
  EXPECT_TRUE(draft_after_an_answer(LookUp::tenant, 7, 8).empty());
  EXPECT_TRUE(draft_after_an_answer(LookUp::tenant, 7, kNoTenant).empty());
}

TEST(LookUp, RemembersNothingOfARequestWithoutATenant) {
  EXPECT_TRUE(draft_after_an_answer(LookUp::tenant, kNoTenant, kNoTenant).empty());
}

TEST(LookUp, LooksWhereTheOperatorSays) {
  EXPECT_TRUE(draft_after_an_answer(LookUp::own, 7, 7).empty());
  EXPECT_FALSE(draft_after_an_answer(LookUp::all, 7, 8).empty());
  EXPECT_FALSE(draft_after_an_answer(LookUp::all, kNoTenant, kNoTenant).empty());
}

TEST(LookUp, FindsACorpusForEveryRequest) {
  const ScopedFolder folder;
  const std::string path = (folder.path() / "a.corpus").string();
  ASSERT_TRUE(write_corpus(path, 1, std::vector<TokenId>{2, 3, 4, 5, kTextEnd}));
  NgramMethod method(LookUpTexts::open({.where = "own", .corpora = {path}, .file = ""}, 1, 10).value());
  method.begin(kKey, {.prompt_length = 2, .tenant = kNoTenant});
  method.advance(kKey, std::vector<TokenId>{8, 3});
  EXPECT_EQ(tokens_of(method.draft(std::vector<DraftAsk>{{kKey, {}}})->at(0).value().tokens()), (std::vector<TokenId>{4, 5}));
}

}  // namespace
}  // namespace slipstream
