// Trees of a draft head, of the committed random Llama and a random head for it.
#include "common/drafting/head_trees.h"

#include <algorithm>
#include <filesystem>

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/engine/sequence_cache.h"
#include "common/model/cpu/cpu_device.h"
#include "common/sampling/entropy.h"
#include "tests/unit/common/checkpoint/folder.h"
#include "tests/unit/common/model/acceptance_file.h"
#include "tests/unit/common/model/extra_head.h"

namespace slipstream {
namespace {

using testing::IsEmpty;

constexpr int32_t kBlocks = 32;
const std::filesystem::path kData = SLIPSTREAM_TEST_DATA;

class HeadTreesTest : public testing::Test {
 protected:
  explicit HeadTreesTest(const std::filesystem::path& head = kData / "tiny-head")
      : model_(LanguageModel::load(kData / "tiny-llama", make_cpu_device({}).value(),
                                   {.cache_blocks = kBlocks, .head = head, .head_ranked = 3})
                   .value()) {
    plan_.blocks_max = 8;
  }

  // A sequence whose prompt is computed; the asks below hang from its last token.
  CachedSequence sequence(int32_t tokens, TokenId first, LogitsParams logits_params = {}) {
    CachedSequence made(cache_.pool(), tokens, std::move(logits_params));
    std::vector<TokenId> text;
    for (int32_t i = 0; i < tokens; ++i) text.push_back(4 + (first + i * 7 + i * i % 5) % 60);
    made.append(text);
    EXPECT_TRUE(cache_.reserve(made, tokens + kTreeNodesMax, MayEvict::prefixes));
    plan_.clear();
    Pass pass(plan_);
    const PassSlice slice = pass.add_context(made, made.prefill_rows());
    const auto ran = model_.run(plan_.view());
    EXPECT_TRUE(ran.has_value()) << ran.error().message;
    made.computed(slice.context_rows);
    return made;
  }
  static HeadAsk ask(CachedSequence& sequence, StopRule rule, float temperature = 0) {
    HeadAsk made{.base = take_base(sequence), .rule = rule, .seed = 9, .sampling = {.temperature = temperature}};
    sequence.computed(0);
    return made;
  }
  std::vector<DraftTree> draft_all(std::vector<HeadAsk> asks) {
    auto done = draft_by_head(model_, asks, extra_, plan_);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    passes_ = done->passes;
    return std::move(done->trees);
  }
  std::vector<TokenTree> draft(std::vector<HeadAsk> asks) {
    std::vector<TokenTree> trees;
    for (const DraftTree& tree : draft_all(std::move(asks))) trees.push_back(tree.tokens());
    return trees;
  }
  static std::vector<TokenId> tokens(const TokenTree& tree) {
    std::vector<TokenId> found;
    for (const TreeNode& node : tree.nodes()) found.push_back(node.token);
    return found;
  }

  // [vocabulary] of the head after the last of these rows.
  std::span<const float> scores_behind(const TreeBase& base, std::span<const TreeRow> rows) {
    plan_.clear();
    Pass pass(plan_);
    TreeBase again = base;
    pass.add_tree(again, {.rows = rows, .first = 0, .seed = 1, .params = kLogitsOnly});
    EXPECT_TRUE(model_.draft(plan_.view()).has_value());
    const auto vocabulary = static_cast<size_t>(model_.config().vocabulary);
    return model_.drafted_logits().subspan((rows.size() - 1) * vocabulary, vocabulary);
  }

  LanguageModel model_;
  SequenceCache cache_{kBlocks, [](const CachedSequence&) { return nullptr; }};
  ExtraTokens extra_{model_};
  StepPlan plan_;
  int passes_ = 0;
};

TEST_F(HeadTreesTest, AreTheSameAloneAndBesideOthers) {
  CachedSequence one = sequence(40, 0), two = sequence(7, 3), three = sequence(33, 11);
  const StopRule rule{.nodes_max = 6, .depth_max = 4};
  std::vector<TokenTree> alone;
  for (CachedSequence* each : {&one, &two, &three}) alone.push_back(draft({ask(*each, rule, 1)}).front());
  const std::vector<TokenTree> together = draft({ask(one, rule, 1), ask(two, rule, 1), ask(three, rule, 1)});
  ASSERT_EQ(together.size(), 3U);
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(tokens(together[i]), tokens(alone[i]));
    EXPECT_EQ(together[i].size(), 6);
  }
  EXPECT_LE(passes_, 4) << "one pass a level for all of them";
}

// At temperature 1 the noise decides, so another seed gives another tree.
TEST_F(HeadTreesTest, AreRankedByTheNoiseOfTheRequest) {
  CachedSequence one = sequence(20, 0);
  HeadAsk other = ask(one, {.nodes_max = 6, .depth_max = 3}, 1);
  other.seed = 10;
  EXPECT_NE(tokens(draft({other}).front()), tokens(draft({ask(one, {.nodes_max = 6, .depth_max = 3}, 1)}).front()));
}

TEST_F(HeadTreesTest, FollowTheRequestsBiases) {
  const TokenId likeliest = [&] {
    CachedSequence one = sequence(20, 0);
    return draft({ask(one, {.nodes_max = 1})}).front().nodes().front().token;
  }();
  CachedSequence biased = sequence(20, 0, {.bias = {{likeliest, -100.0F}}});
  const std::vector<TokenId> found = tokens(draft({ask(biased, {.nodes_max = 8, .depth_max = 4})}).front());
  EXPECT_THAT(found, testing::Not(testing::Contains(likeliest)));
}

TEST_F(HeadTreesTest, EndWhereALevelDoesNotPayForItsPass) {
  CachedSequence one = sequence(20, 0);
  StopRule rule{.nodes_max = 20, .depth_max = 5};
  draft({ask(one, rule)});
  EXPECT_GT(passes_, 1);
  rule.level_price = 10;  // more than any frontier can win
  EXPECT_FALSE(draft({ask(one, rule)}).front().empty()) << "the first pass has been paid for";
  EXPECT_EQ(passes_, 1);
}

class HeadTreesByEntropy : public HeadTreesTest {
 protected:
  // Of each pass of a chain behind that sequence, in nats.
  std::vector<float> entropies(CachedSequence& sequence, float temperature) {
    std::vector<float> found;
    for (int length = 1; length <= kLongest; ++length) {
      chain(sequence, length, kAnyBound, temperature);
      found.push_back(entropy_of(model_.drafted_logits(), temperature));
    }
    return found;
  }
  TokenTree chain(CachedSequence& sequence, int length, float bound_least, float temperature) {
    return draft({ask(sequence, chain_within({}, {.length_max = length, .bound_least = bound_least}), temperature)}).front();
  }
  static constexpr int kLongest = 6;
  static constexpr float kAnyBound = 1e-9F;  // no pass is too uncertain for it
};

TEST_F(HeadTreesByEntropy, EndBehindTheFirstPassThatIsTooUncertain) {
  CachedSequence one = sequence(20, 0);
  for (const float temperature : {0.0F, 1.0F}) {
    const std::vector<float> nats = entropies(one, temperature);
    for (const float of_one : nats) {
      const float least = acceptance_bound(of_one) + 1e-5F;
      ASSERT_GT(least, 0);
      const auto last = std::ranges::find_if(nats, [&](float each) { return acceptance_bound(each) < least; });
      const auto expected = std::min<ptrdiff_t>(last - nats.begin() + 1, kLongest);
      EXPECT_EQ(chain(one, kLongest, least, temperature).size(), expected) << least << " at temperature " << temperature;
      EXPECT_EQ(passes_, expected);
    }
  }
}

struct ExtraHeadFolder {
  Folder folder;
  std::filesystem::path head = extra_head(folder);
};
class HeadTreesOfWords : private ExtraHeadFolder, public HeadTreesTest {
 protected:
  HeadTreesOfWords() : HeadTreesTest(ExtraHeadFolder::head) {}

  HeadAsk ask_with(CachedSequence& sequence, std::vector<TokenId> words, float temperature) {
    HeadAsk made = ask(sequence, {.nodes_max = 12, .depth_max = 4}, temperature);
    made.words = std::move(words);
    return made;
  }
};

// Several rows a level, some of other sequences: each has the words of its own.
TEST_F(HeadTreesOfWords, HaveThoseOfTheirOwnSequenceInEveryRow) {
  std::vector<TokenId> others;
  for (TokenId token = 0; token < 64; ++token) {
    if (!model_.draft_vocabulary()->allows(token)) others.push_back(token);
  }
  const std::vector<TokenId> first(others.begin(), others.begin() + 6), second(others.end() - 9, others.end());
  CachedSequence one = sequence(40, 0), two = sequence(7, 3), three = sequence(33, 11);
  for (const float temperature : {0.0F, 1.0F}) {
    const std::vector<TokenTree> alone{draft({ask_with(one, first, temperature)}).front(),
                                       draft({ask_with(two, {}, temperature)}).front(),
                                       draft({ask_with(three, second, temperature)}).front()};
    const std::vector<TokenTree> together =
        draft({ask_with(one, first, temperature), ask_with(two, {}, temperature), ask_with(three, second, temperature)});
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(tokens(together[i]), tokens(alone[i])) << i;
    const std::vector<TokenId> without = tokens(draft({ask_with(three, {}, temperature)}).front());
    EXPECT_NE(tokens(alone[2]), without);
    EXPECT_TRUE(std::ranges::any_of(tokens(alone[2]), [&](TokenId token) { return std::ranges::count(second, token) > 0; }));
  }
}

// For the ratio family: what comes with a row is what its children were sampled from, and that is
// the head's own distribution there, by the request's filter, sharpened as its ranks are.
TEST_F(HeadTreesTest, OfTheRatioFamilyAreSampledFromTheHeadsDistributions) {
  CachedSequence one = sequence(20, 0);
  const SamplingParams sampling{.temperature = 0.8F, .top_k = 20};
  HeadAsk sampled = ask(one, {.nodes_max = 3, .depth_max = 3}, sampling.temperature);
  sampled.sampling = sampling;
  sampled.acceptance = {.rule = Rule::ratio};
  const DraftTree tree = draft_all({sampled}).front();
  ASSERT_EQ(tree.size(), 3);
  ASSERT_TRUE(tree.sampled());
  ChainScratch scratch;
  std::vector<TreeRow> rows{{}};
  for (int row = 0; row < 3; ++row) {
    OwnedDistribution expected;
    draft_distribution(scores_behind(sampled.base, rows), sharpened(sampling), scratch, expected);
    const TokenDistribution q = tree.distribution(row);
    EXPECT_EQ(std::vector(q.ids.begin(), q.ids.end()), expected.ids) << row;
    EXPECT_EQ(std::vector(q.weights.begin(), q.weights.end()), expected.weights) << row;
    const TokenId token = tree.nodes()[static_cast<size_t>(row)].token;
    EXPECT_GT(q.weight(token), 0U);
    rows.push_back(
        {.token = token, .parent = row, .depth = row + 1, .ancestors = rows.back().ancestors | uint64_t{1} << (row + 1)});
  }
}

TEST_F(HeadTreesTest, OfTheRatioFamilyDifferFromRoundToRoundAndHaveTheShapeThatTheRequestWants) {
  CachedSequence one = sequence(20, 0);
  HeadAsk sampled = ask(one, {.nodes_max = 3, .depth_max = 3}, 1);
  sampled.acceptance = {.rule = Rule::ratio};
  EXPECT_EQ(tokens(draft_all({sampled}).front().tokens()), tokens(draft_all({sampled}).front().tokens()));
  std::set<std::vector<TokenId>> different;
  for (sampled.round = 0; sampled.round < 20; ++sampled.round) {
    different.insert(tokens(draft_all({sampled}).front().tokens()));
  }
  EXPECT_GT(different.size(), 10U);
  sampled.acceptance = {.rule = Rule::ratio, .root_children = 2, .children = 2};
  sampled.rule = {.nodes_max = 6, .depth_max = 2};
  const DraftTree siblings = draft_all({sampled}).front();
  EXPECT_EQ(siblings.size(), 6);
  EXPECT_EQ(siblings.depth(), 2);
}

TEST_F(HeadTreesTest, OfTheRatioFamilyHaveNoTokenThatTheRequestForbids) {
  CachedSequence one = sequence(20, 0, {.allowed = {5, 6, 7}});
  HeadAsk sampled = ask(one, {.nodes_max = 4, .depth_max = 4}, 1);
  sampled.acceptance = {.rule = Rule::ratio};
  for (sampled.round = 0; sampled.round < 5; ++sampled.round) {
    for (const TokenId token : tokens(draft_all({sampled}).front().tokens())) EXPECT_TRUE(token >= 5 && token <= 7) << token;
  }
}

// The same trees as alone, of both kinds.
TEST_F(HeadTreesTest, OfBothKindsGrowBesideEachOther) {
  CachedSequence one = sequence(20, 0), two = sequence(9, 3);
  HeadAsk ranked = ask(one, {.nodes_max = 5, .depth_max = 3}, 1), sampled = ask(two, {.nodes_max = 4, .depth_max = 4}, 1);
  sampled.acceptance = {.rule = Rule::traversal};
  const std::vector<DraftTree> both = draft_all({ranked, sampled});
  EXPECT_EQ(tokens(both[0].tokens()), tokens(draft_all({ranked})[0].tokens()));
  EXPECT_EQ(tokens(both[1].tokens()), tokens(draft_all({sampled})[0].tokens()));
  EXPECT_FALSE(both[0].sampled());
  EXPECT_TRUE(both[1].sampled());
}

TEST_F(HeadTreesTest, WithoutAsksThereIsNoPass) {
  EXPECT_THAT(draft({}), IsEmpty());
  EXPECT_EQ(passes_, 0);
}

// By the seed's noise coupled requests choose; that of the ratio family is no reason to favour a
// token.
TEST_F(HeadTreesOfWords, OfTheRatioFamilyAreSampledFromWhatTheSeedHasNoPartIn) {
  CachedSequence one = sequence(20, 0);
  HeadAsk sampled = ask_with(one, {3, 7}, 1);
  sampled.acceptance = {.rule = Rule::ratio};
  const auto root_of = [&](uint64_t seed) {
    sampled.seed = seed;
    const DraftTree tree = draft_all({sampled}).front();
    const TokenDistribution q = tree.distribution(0);
    return std::pair(std::vector(q.ids.begin(), q.ids.end()), std::vector(q.weights.begin(), q.weights.end()));
  };
  for (uint64_t seed = 1; seed < 5; ++seed) EXPECT_EQ(root_of(seed), root_of(0));
}

// An acceptance head that takes every drafted token at temperature 1 and none at 0: at 0 the tokens
// that were read are worth nothing, and none behind them is drafted.
TEST(HeadTreesOfAnAcceptanceHead, AskItForTheRequestsOwnWayOfChoosing) {
  const Folder folder;
  folder.copy(kData / "tiny-head");
  constexpr size_t kHidden = 32, kOutBias = kHidden + kHidden * kHidden;
  write_acceptance_head(folder.path(), draft_head_hash(folder.path()).value(), kHidden, [](size_t at) {
    return at == kOutBias ? -32.0F : at == kOutBias + 1 ? 32.0F : 0.0F;
  });
  LanguageModel model = LanguageModel::load(kData / "tiny-llama", make_cpu_device({}).value(),
                                            {.cache_blocks = kBlocks, .head = folder.path(), .head_ranked = 2})
                            .value();
  SequenceCache cache(kBlocks, [](const CachedSequence&) { return nullptr; });
  ExtraTokens extra(model);
  StepPlan plan;
  plan.blocks_max = 8;
  const auto tree = [&](float temperature) {
    CachedSequence sequence(cache.pool(), 1);
    sequence.append(std::vector<TokenId>{5});
    EXPECT_TRUE(cache.reserve(sequence, 1 + kTreeNodesMax, MayEvict::prefixes));
    std::vector<HeadAsk> asks{{.base = take_base(sequence),
                               .rule = {.nodes_max = 8, .depth_max = 4, .threshold = 0.999F},
                               .sampling = {.temperature = temperature}}};
    return draft_by_head(model, asks, extra, plan).value().trees.front().tokens();
  };
  const TokenTree greedy = tree(0), sampled = tree(1);
  EXPECT_EQ(greedy.depth(), 1);
  EXPECT_LT(greedy.nodes().front().survival, 1e-6F);
  EXPECT_GT(sampled.depth(), 1);
  EXPECT_GT(sampled.nodes().front().survival, 0.999F);
}

}  // namespace
}  // namespace slipstream
