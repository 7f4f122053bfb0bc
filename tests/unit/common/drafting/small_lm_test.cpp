#include "common/drafting/small_lm.h"

#include <array>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/checkpoint/fingerprint.h"
#include "common/speculation/walk.h"
#include "tests/data/noisy_model.h"
#include "tests/data/own_path.h"
#include "tests/unit/common/checkpoint/folder.h"
#include "tests/unit/common/drafting/small_lm_trial.h"
#include "tests/unit/common/model/acceptance_file.h"

namespace slipstream {
namespace {

using testing::IsEmpty;

TEST(SmallLm, IsAlwaysRightAboutATargetOfTheSameWeights) {
  Plain target;
  for (const float temperature : {0.0F, 0.7F, 1.0F, 1.5F}) {
    const auto method = load({.siblings_max = 1});
    std::vector<TokenId> tokens = random_tokens(1, 20);
    const GenerationSpec spec = spec_of(tokens, temperature);
    method->begin(key_of(1), spec);
    method->advance(key_of(1), tokens);
    SCOPED_TRACE(testing::Message() << "temperature " << temperature);
    expect_always_right(*method, target, key_of(1), tokens, spec, 8);
    if (HasFatalFailure()) return;
  }
}

// Each node by its own path; the prompt comes in chunks, the second with what was emitted before
// the drafter was there.
TEST(SmallLm, IsAlwaysRightAboutATargetThatAdjustsItsLogits) {
  Plain target;
  for (const float temperature : {0.0F, 1.0F}) {
    const auto method = load({.siblings_max = 1});
    std::vector<TokenId> tokens = random_tokens(1, 24);
    GenerationSpec spec = spec_of({tokens.begin(), tokens.begin() + 20}, temperature);
    spec.logits_params = {.repetition_penalty = 1.3F,
                          .presence_penalty = 0.8F,
                          .frequency_penalty = 0.6F,
                          .min_tokens = 12,
                          .stop_ids = {20, 21, 22},
                          .bias = {{30, 2}},
                          .bad_words = {{40}, {30, 31}}};
    method->begin(key_of(1), spec);
    method->advance(key_of(1), std::span(tokens).first(11));
    method->advance(key_of(1), std::span(tokens).subspan(11));
    SCOPED_TRACE(testing::Message() << "temperature " << temperature);
    expect_always_right(*method, target, key_of(1), tokens, spec, 8);
    if (HasFatalFailure()) return;
  }
}

// Rounds whose trees are taken up to a random node and then go elsewhere: what was moved and what
// was computed anew must give the bits that a method gives which never drafted before.
TEST(SmallLm, GivesTheBitsOfAFreshOneWhateverWasAccepted) {
  std::mt19937_64 random(3);
  const auto method = load({.siblings_max = 3});
  std::vector<TokenId> tokens = random_tokens(2, 30);
  const GenerationSpec spec = spec_of(tokens, 1.0F);
  method->begin(key_of(1), spec);
  method->advance(key_of(1), tokens);
  for (int round = 0; round < 12; ++round) {
    const StopRule rule{.nodes_max = static_cast<int>(1 + random() % 12)};
    const TokenTree tree = draft(*method, key_of(1), rule);
    const auto other = load({.siblings_max = 3});
    other->begin(key_of(1), spec);
    other->advance(key_of(1), tokens);
    ASSERT_EQ(nodes_of(tree), nodes_of(draft(*other, key_of(1), rule))) << "round " << round;
    std::vector<TokenId> path;
    if (!tree.empty() && random() % 4 != 0) {
      for (int at = static_cast<int>(random() % static_cast<size_t>(tree.size())); at != kRoot; at = tree.nodes()[at].parent) {
        path.insert(path.begin(), tree.nodes()[at].token);
      }
    }
    path.push_back(static_cast<TokenId>(4 + random() % 60));
    method->advance(key_of(1), path);
    tokens.insert(tokens.end(), path.begin(), path.end());
  }
}

// An acceptance head that takes every token at temperature 1 and none at 0: at 0 nothing is drafted
// behind the tokens that were read, which are worth nothing.
TEST(SmallLm, AsksItsAcceptanceHeadForTheRequestsOwnWayOfChoosing) {
  const Folder folder;
  folder.copy(kTiny);
  constexpr size_t kHidden = 32, kOutBias = kHidden + kHidden * kHidden;
  write_acceptance_head(folder.path(), hash_weights(kTiny, read_llama_config(kTiny).value()).value(), kHidden, [](size_t at) {
    return at == kOutBias ? -32.0F : at == kOutBias + 1 ? 32.0F : 0.0F;
  });
  const auto method = load({.folder = folder.path()});
  const auto tree = [&](uint64_t sequence, float temperature) {
    const std::vector<TokenId> tokens = random_tokens(7, 9);
    method->begin(key_of(sequence), spec_of(tokens, temperature));
    method->advance(key_of(sequence), tokens);
    return draft(*method, key_of(sequence), {.nodes_max = 8, .depth_max = 4, .threshold = 0.999F});
  };
  const TokenTree greedy = tree(1, 0), sampled = tree(2, 1);
  ASSERT_FALSE(greedy.empty());
  EXPECT_EQ(greedy.depth(), 1);
  EXPECT_LT(greedy.nodes().front().survival, 1e-6F);
  EXPECT_GT(sampled.depth(), 1);
  EXPECT_GT(sampled.nodes().front().survival, 0.999F);
}

TEST(SmallLm, GivesEachSequenceTheSameTreeAloneAndAmongEight) {
  const auto method = load();
  std::vector<DraftAsk> asks;
  for (uint64_t i = 0; i < 8; ++i) {
    const auto tokens = random_tokens(i, 10 + 3 * i);
    method->begin(key_of(1, i + 1), spec_of(tokens, i % 2 == 0 ? 0.0F : 1.0F, i));
    method->advance(key_of(1, i + 1), tokens);
    asks.push_back({key_of(1, i + 1), {.nodes_max = static_cast<int>(2 + i)}});
  }
  const auto trees = method->draft(asks);
  ASSERT_TRUE(trees.has_value());
  for (uint64_t i = 0; i < 8; ++i) {
    const auto tokens = random_tokens(i, 10 + 3 * i);
    const auto alone = fresh(tokens, spec_of(tokens, i % 2 == 0 ? 0.0F : 1.0F, i), asks[i].rule);
    EXPECT_EQ(nodes_of(trees->at(i).value().tokens()), alone) << "sequence " << i;
  }
  EXPECT_LE(method->work().passes, 9u);  // one for each level of the deepest, not of each
}

TEST(SmallLm, PrefillsALongPromptBesideTheTreesOfOthers) {
  const auto method = load();
  const auto brief = random_tokens(1, 12), lengthy = random_tokens(2, 200);
  method->begin(key_of(1), spec_of(brief, 0));
  method->advance(key_of(1), brief);
  method->begin(key_of(2), spec_of(lengthy, 0));
  method->advance(key_of(2), lengthy);
  const std::vector<DraftAsk> asks{{key_of(2), {}}, {key_of(1), {}}};
  int jobs = 0;
  for (Draft tree; !tree; ++jobs) {
    ASSERT_LT(jobs, 20);
    const uint64_t before = method->work().rows;
    auto trees = method->draft(asks);
    ASSERT_TRUE(trees.has_value());
    ASSERT_TRUE(trees->at(1).has_value()) << "who is up to date waits for nobody";
    EXPECT_LE(method->work().rows - before, 12u + 63u + 64u + kPrefillRowsBeside);
    tree = trees->at(0);
    if (tree) {
      EXPECT_EQ(nodes_of(tree->tokens()), fresh(lengthy, spec_of(lengthy, 0)));
    }
    method->advance(key_of(1), {});
  }
  EXPECT_EQ(jobs, 1 + 199 / kPrefillRowsBeside);
}

TEST(SmallLm, StaysWithinTheTargetsVocabulary) {
  const auto method = load({.vocabulary = 20, .siblings_max = 8});
  const auto tokens = random_tokens(3, 15);
  method->begin(key_of(1), spec_of(tokens, 1.0F));
  method->advance(key_of(1), tokens);
  const TokenTree tree = draft(*method, key_of(1), {.nodes_max = 30});
  EXPECT_FALSE(tree.empty());
  for (const TreeNode& node : tree.nodes()) EXPECT_LT(node.token, 20);
}

TEST(SmallLm, DraftsNothingAfterATokenThatItHasNoEmbeddingOf) {
  const auto method = load({.vocabulary = 1000});
  method->begin(key_of(1), spec_of({5}, 0));
  method->advance(key_of(1), std::vector<TokenId>{5, kVocabulary, 6});
  EXPECT_TRUE(draft(*method, key_of(1)).empty());
}

TEST(SmallLm, DraftsNothingBeyondItsContext) {
  const auto method = load({.cache_tokens = 2048});
  auto tokens = random_tokens(4, 1022);  // of 1024
  method->begin(key_of(1), spec_of(tokens, 0));
  method->advance(key_of(1), tokens);
  const TokenTree tree = draft(*method, key_of(1), {.nodes_max = 20, .depth_max = 8});
  for (int node = 0; node < tree.size(); ++node) EXPECT_LE(tree.depth(node), 2);
  method->advance(key_of(1), std::vector<TokenId>{5, 6, 7});
  EXPECT_TRUE(draft(*method, key_of(1)).empty());
}

TEST(SmallLm, TakesTheMemoryThatItIsGivenForItsCache) {
  const auto method = load({.cache_bytes = 1 << 20});
  EXPECT_LE(method->model().cache_bytes(), 1U << 20);
  EXPECT_GT(method->model().cache_bytes(), (1U << 20) * 9 / 10);
}

TEST(SmallLm, StartsAnewWithABegin) {
  const auto method = load();
  const auto first = random_tokens(1, 20), second = random_tokens(2, 25);
  for (const auto& tokens : {first, second}) {
    method->begin(key_of(1), spec_of(tokens, 1.0F));
    method->advance(key_of(1), tokens);
    EXPECT_EQ(nodes_of(draft(*method, key_of(1))), fresh(tokens, spec_of(tokens, 1.0F)));
  }
}

// Verdicts that contradict its own model, so that nothing but they can have taught it.
TEST(SmallLm, LearnsFromAVerdictOffTheAcceptedPath) {
  const auto method = load({.siblings_max = 1});
  const std::vector<TokenId> tokens = random_tokens(1, 20);
  method->begin(key_of(1), spec_of(tokens, 0.0F));
  method->advance(key_of(1), tokens);
  const TokenTree first = draft(*method, key_of(1), {.nodes_max = 2});
  ASSERT_EQ(first.size(), 2);
  const TokenId other = first.nodes()[0].token == 5 ? 6 : 5;
  for (int time = 0; time < 40; ++time) {
    draft(*method, key_of(1), {.nodes_max = 2});
    // The first node was rejected; what it guesses behind itself is right there.
    method->learn(key_of(1), std::vector<TokenId>{other, first.nodes()[1].token, kNoVerdict});
  }
  const TokenTree taught = draft(*method, key_of(1), {.nodes_max = 2});
  ASSERT_EQ(taught.size(), 2);
  EXPECT_LT(taught.nodes()[0].survival, 0.7F * first.nodes()[0].survival);
  EXPECT_GT(taught.nodes()[1].survival, 0.8F * taught.nodes()[0].survival);
  EXPECT_EQ(method->work().learnt[0].nodes, 40U);
  EXPECT_EQ(method->work().learnt[0].accepted, 0U);
  EXPECT_EQ(method->work().learnt[1].accepted, 40U);
}

// Its candidates were ranked, and none was sure enough to be drafted.
TEST(SmallLm, LearnsFromTheVerdictOnATreeWithoutNodes) {
  const auto method = load({.siblings_max = 1});
  const std::vector<TokenId> tokens = random_tokens(1, 20);
  method->begin(key_of(1), spec_of(tokens, 0.0F));
  method->advance(key_of(1), tokens);
  const TokenTree first = draft(*method, key_of(1), {.nodes_max = 1});
  ASSERT_EQ(first.size(), 1);
  const std::vector<TokenId> other{first.nodes()[0].token == 5 ? 6 : 5};
  for (int time = 0; time < 40; ++time) {
    ASSERT_EQ(draft(*method, key_of(1), {.nodes_max = 1, .threshold = 0}).size(), 0);
    method->learn(key_of(1), other);
  }
  EXPECT_EQ(method->work().learnt[0].nodes, 40U);
  EXPECT_EQ(method->work().learnt[0].accepted, 0U);
  EXPECT_LT(draft(*method, key_of(1), {.nodes_max = 1}).nodes()[0].survival, 0.7F * first.nodes()[0].survival);
}

TEST(SmallLm, IgnoresVerdictsOnAnotherTree) {
  const auto method = load();
  const std::vector<TokenId> tokens = random_tokens(1, 20);
  method->begin(key_of(1), spec_of(tokens, 0.0F));
  method->advance(key_of(1), tokens);
  const TokenTree tree = draft(*method, key_of(1), {.nodes_max = 4});
  const std::vector<TokenId> of_another(static_cast<size_t>(tree.size()), 5), of_this(of_another.size() + 1, 5);
  method->learn(key_of(1), of_another);
  EXPECT_EQ(method->work().learnt, DepthReliability());
  method->advance(key_of(1), std::vector<TokenId>{7});
  method->learn(key_of(1), of_this);  // the sequence has grown: they are on a tree that it has no more
  EXPECT_EQ(method->work().learnt, DepthReliability());
}

TEST(SmallLm, LearnsOfGreedyAndOfCoupledSequencesApart) {
  const auto method = load();
  const std::vector<TokenId> tokens = random_tokens(1, 20);
  for (const float temperature : {0.0F, 1.0F}) {
    const DraftKey key = key_of(temperature > 0 ? 2 : 1);
    GenerationSpec spec = spec_of(tokens, temperature);
    spec.acceptance.rule = temperature > 0 ? Rule::coupled : Rule::greedy;
    method->begin(key, spec);
    method->advance(key, tokens);
  }
  const std::vector<TreeNode> greedy = nodes_of(draft(*method, key_of(1))), coupled = nodes_of(draft(*method, key_of(2)));
  method->learn(key_of(1), std::vector<TokenId>(greedy.size() + 1, 5));
  EXPECT_NE(nodes_of(draft(*method, key_of(1))), greedy);
  EXPECT_EQ(nodes_of(draft(*method, key_of(2))), coupled);
}

TEST(SmallLm, NamesItsModelAndItsWeights) {
  const auto method = load({.name = "tiny"});
  EXPECT_EQ(method->draft_model(), (DraftModel{"tiny", method->model().weights_hash()}));
  EXPECT_NE(method->model().weights_hash(), 0U);
}

TEST(SmallLm, RefusesOptionsOutOfRange) {
  for (const int siblings : {0, kSiblingsMax + 1}) {
    EXPECT_FALSE(SmallLm::load({.folder = kTiny, .vocabulary = kVocabulary, .siblings_max = siblings}).has_value());
  }
  EXPECT_FALSE(
      SmallLm::load({.folder = "nowhere", .device = make_cpu_device({}).value(), .vocabulary = kVocabulary}).has_value());
}

std::vector<double> softmax(std::span<const float> logits) {
  std::vector<double> distribution(logits.begin(), logits.end());
  const double most = *std::ranges::max_element(distribution);
  for (double& each : distribution) each = std::exp(each - most);
  const double sum = std::accumulate(distribution.begin(), distribution.end(), 0.0);
  for (double& each : distribution) each /= sum;
  return distribution;
}

// Daliri, Musco, Suresh (2408.07978), Theorem 3: with shared exponential races, target and drafter
// agree on a token with this probability.
double gumbel_agreement(const std::vector<double>& p, const std::vector<double>& q) {
  double agree = 0;
  for (size_t v = 0; v < p.size(); ++v) {
    double sum = 0;
    for (size_t u = 0; u < p.size(); ++u) sum += std::max(p[u] / p[v], q[u] / q[v]);
    agree += 1 / sum;
  }
  return agree;
}

// A drafter of other weights: of the nodes of its chains that the target reaches, each is accepted
// with the probability that the formula gives for the two distributions behind the very prefix of
// that node.
TEST(SmallLm, IsAcceptedAsOftenAsTheGumbelFormulaSaysAlongAChain) {
  constexpr int kTrials = 6000, kDepth = 3;
  const auto folder = noisy_model(kTiny, own_path("noisy"), 0.06F);
  const auto method = load({.folder = folder, .siblings_max = 1});
  Plain target, drafter(folder);
  std::mt19937_64 random(9);
  std::array<double, kDepth> expected{}, variance{}, accepted{}, reached{};
  double tv = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    auto tokens = random_tokens(random(), 8 + random() % 20);
    const GenerationSpec spec = spec_of(tokens, 1.0F, random());
    method->begin(key_of(1), spec);
    method->advance(key_of(1), tokens);
    const TokenTree chain = draft(*method, key_of(1), {.nodes_max = kDepth});
    ASSERT_EQ(chain.size(), kDepth);
    for (size_t at = 0; at < kDepth; ++at) {
      const TokenId sampled_tokens = target.next(tokens, spec);
      drafter.next(tokens, spec);
      const auto p = softmax(target.logits()), q = softmax(drafter.logits());
      const double agree = gumbel_agreement(p, q);
      ++reached[at];
      expected[at] += agree;
      variance[at] += agree * (1 - agree);
      if (at == 0) {
        for (size_t v = 0; v < p.size(); ++v) tv += std::abs(p[v] - q[v]) / 2 / kTrials;
      }
      if (chain.nodes()[at].token != sampled_tokens) break;
      ++accepted[at];
      tokens.push_back(sampled_tokens);
    }
  }
  for (size_t at = 0; at < kDepth; ++at) {
    fmt::print("node {}: {:.0f} reached, {:.4f} accepted, the formula says {:.4f}\n", at + 1, reached[at],
               accepted[at] / reached[at], expected[at] / reached[at]);
    EXPECT_LT(std::abs(accepted[at] - expected[at]), 4 * std::sqrt(variance[at])) << "node " << at + 1;
    EXPECT_GT(reached[at], 1000);
  }
  EXPECT_GT(tv, 0.05);  // the two do differ
  EXPECT_LT(tv, 0.5);
}

}  // namespace
}  // namespace slipstream
