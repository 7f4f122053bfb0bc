#include "services/drafter/methods/small_lm.h"

#include <array>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/speculation/walk.h"
#include "tests/data/noisy_model.h"

namespace slipstream {
namespace {

using testing::IsEmpty;

const std::filesystem::path kTiny = std::filesystem::path(SLIPSTREAM_TEST_DATA) / "tiny-llama";
constexpr int32_t kVocabulary = 64;

DraftKey key_of(uint64_t counter, uint64_t verifier = 1) { return {Peer{verifier}, SequenceId{7, counter}}; }

std::unique_ptr<SmallLm> load(SmallLmOptions options = {}) {
  if (options.folder.empty()) options.folder = kTiny;
  if (options.vocabulary == 0) options.vocabulary = kVocabulary;
  auto method = SmallLm::load(options);
  EXPECT_TRUE(method.has_value()) << method.error().message;
  return *std::move(method);
}

std::vector<TokenId> random_tokens(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<TokenId> tokens(count);
  for (TokenId& token : tokens) token = static_cast<TokenId>(4 + random() % 60);
  return tokens;
}

SequenceInfo info_of(const std::vector<TokenId>& prompt, float temperature, uint64_t seed = 5) {
  return {.prompt_length = static_cast<int32_t>(prompt.size()), .seed = seed, .sampling = {.temperature = temperature}};
}

// A model itself, the target unless told, without any speculation: all tokens in one pass, the last row's choice.
class Plain {
 public:
  explicit Plain(const std::filesystem::path& folder = kTiny)
      : model_(LanguageModel::load(folder, {.cache_blocks = kBlocks})) {}

  TokenId next(const std::vector<TokenId>& tokens, const SequenceInfo& info) {
    BlockPool pool(kBlocks);
    BlockTable table(pool);
    EXPECT_TRUE(table.reserve(static_cast<int32_t>(tokens.size())));
    plan_.clear();
    plan_.blocks_max = kBlocks;
    plan_.add_sequence(table.blocks());
    for (int32_t at = 0; at < static_cast<int32_t>(tokens.size()); ++at) {
      plan_.add({.token = tokens[static_cast<size_t>(at)], .position = at, .slot = table.slot(at), .visible = at + 1});
    }
    const auto prompt = static_cast<size_t>(info.prompt_length);
    auto adjuster = std::make_shared<Adjuster>(info.adjustments);
    adjuster->add_prompt(std::span(tokens).first(prompt));
    adjuster->add_output(std::span(tokens).subspan(prompt));
    plan_.want({.seed = info.seed,
                .choice = info.choice,
                .position = static_cast<uint32_t>(static_cast<int32_t>(tokens.size()) - info.prompt_length),
                .params = info.sampling});
    plan_.adjust(plan_.add_adjuster(std::move(adjuster)), 1, [](int) { return TokenId{}; });
    const auto chosen = model_->run(plan_.view());
    EXPECT_TRUE(chosen.has_value()) << chosen.error().message;
    return chosen->front();
  }
  std::span<const float> logits() const { return model_->logits(); }  // of the row chosen last

 private:
  static constexpr int32_t kBlocks = 8;
  Result<LanguageModel> model_;
  StepPlan plan_;
};

// One tree; asks again while the method still learns.
TokenTree draft(SmallLm& method, const DraftKey& key, const StopRule& rule = {}) {
  const std::vector<DraftAsk> asks{{key, rule}};
  for (int tries = 0; tries < 100; ++tries) {
    auto trees = method.draft(asks);
    EXPECT_TRUE(trees.has_value()) << trees.error().message;
    if (trees->at(0)) return *trees->at(0);
  }
  ADD_FAILURE() << "it never learns";
  return {};
}

// The tree that a method which has seen nothing else gives for these tokens.
std::vector<TreeNode> fresh(const std::vector<TokenId>& tokens, const SequenceInfo& info, const StopRule& rule = {}) {
  const auto method = load();
  method->begin(key_of(1), info);
  method->advance(key_of(1), tokens);
  const TokenTree tree = draft(*method, key_of(1), rule);
  return {tree.nodes().begin(), tree.nodes().end()};
}

std::vector<TreeNode> nodes_of(const TokenTree& tree) { return {tree.nodes().begin(), tree.nodes().end()}; }

TEST(SmallLm, IsAlwaysRightAboutATargetOfTheSameWeights) {
  Plain target;
  for (const float temperature : {0.0F, 0.7F, 1.0F, 1.5F}) {
    const auto method = load({.siblings_max = 1});
    std::vector<TokenId> tokens = random_tokens(1, 20);
    const SequenceInfo info = info_of(tokens, temperature);
    method->begin(key_of(1), info);
    method->advance(key_of(1), tokens);
    for (int round = 0; round < 8; ++round) {
      const TokenTree tree = draft(*method, key_of(1), {.nodes_max = 5});
      ASSERT_EQ(tree.size(), 5);
      std::vector<TokenId> emitted;
      for (int node = 0; node <= tree.size(); ++node) {
        emitted.push_back(target.next(tokens, info));
        tokens.push_back(emitted.back());
        if (node < tree.size()) {
          ASSERT_EQ(tree.nodes()[node].token, emitted.back()) << "temperature " << temperature << ", round " << round;
        }
      }
      method->advance(key_of(1), emitted);
    }
  }
}

// Each node by its own path; the prompt comes in chunks, the second with what was emitted before the drafter was there.
TEST(SmallLm, IsAlwaysRightAboutATargetThatAdjustsItsLogits) {
  Plain target;
  for (const float temperature : {0.0F, 1.0F}) {
    const auto method = load({.siblings_max = 1});
    std::vector<TokenId> tokens = random_tokens(1, 24);
    SequenceInfo info = info_of({tokens.begin(), tokens.begin() + 20}, temperature);
    info.adjustments = {.repetition_penalty = 1.3F,
                        .presence_penalty = 0.8F,
                        .frequency_penalty = 0.6F,
                        .min_tokens = 12,
                        .end_ids = {20, 21, 22},
                        .bias = {{30, 2}},
                        .bad_words = {{40}, {30, 31}}};
    method->begin(key_of(1), info);
    method->advance(key_of(1), std::span(tokens).first(11));
    method->advance(key_of(1), std::span(tokens).subspan(11));
    for (int round = 0; round < 8; ++round) {
      const TokenTree tree = draft(*method, key_of(1), {.nodes_max = 5});
      ASSERT_EQ(tree.size(), 5);
      std::vector<TokenId> emitted;
      for (int node = 0; node <= tree.size(); ++node) {
        emitted.push_back(target.next(tokens, info));
        tokens.push_back(emitted.back());
        if (node < tree.size()) {
          ASSERT_EQ(tree.nodes()[node].token, emitted.back()) << "temperature " << temperature << ", round " << round;
        }
      }
      method->advance(key_of(1), emitted);
    }
  }
}

// Rounds whose trees are taken up to a random node and then go elsewhere: what was moved and what was computed anew must give
// the bits that a method gives which never drafted before.
TEST(SmallLm, GivesTheBitsOfAFreshOneWhateverWasAccepted) {
  std::mt19937_64 random(3);
  const auto method = load({.siblings_max = 3});
  std::vector<TokenId> tokens = random_tokens(2, 30);
  const SequenceInfo info = info_of(tokens, 1.0F);
  method->begin(key_of(1), info);
  method->advance(key_of(1), tokens);
  for (int round = 0; round < 12; ++round) {
    const StopRule rule{.nodes_max = static_cast<int>(1 + random() % 12)};
    const TokenTree tree = draft(*method, key_of(1), rule);
    const auto other = load({.siblings_max = 3});
    other->begin(key_of(1), info);
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

TEST(SmallLm, ComputesNothingAgainOfWhatWasAccepted) {
  const auto method = load({.siblings_max = 1});
  std::vector<TokenId> tokens = random_tokens(1, 20);
  method->begin(key_of(1), info_of(tokens, 0));
  method->advance(key_of(1), tokens);
  const TokenTree tree = draft(*method, key_of(1), {.nodes_max = 4});
  EXPECT_EQ(method->work().rows, 20u + 3u);  // the prompt with its root, and all nodes but the last, which is a guess
  std::vector<TokenId> emitted;
  for (const TreeNode& node : tree.nodes()) emitted.push_back(node.token);
  emitted.push_back(9);
  method->advance(key_of(1), emitted);
  draft(*method, key_of(1), {.nodes_max = 1});
  EXPECT_EQ(method->work().rows, 23u + 2u);  // the last node and the target's own token
}

TEST(SmallLm, GivesEachSequenceTheSameTreeAloneAndAmongEight) {
  const auto method = load();
  std::vector<DraftAsk> asks;
  for (uint64_t i = 0; i < 8; ++i) {
    const auto tokens = random_tokens(i, 10 + 3 * i);
    method->begin(key_of(1, i + 1), info_of(tokens, i % 2 == 0 ? 0.0F : 1.0F, i));
    method->advance(key_of(1, i + 1), tokens);
    asks.push_back({key_of(1, i + 1), {.nodes_max = static_cast<int>(2 + i)}});
  }
  const auto trees = method->draft(asks);
  ASSERT_TRUE(trees.has_value());
  for (uint64_t i = 0; i < 8; ++i) {
    const auto tokens = random_tokens(i, 10 + 3 * i);
    const auto alone = fresh(tokens, info_of(tokens, i % 2 == 0 ? 0.0F : 1.0F, i), asks[i].rule);
    EXPECT_EQ(nodes_of(trees->at(i).value()), alone) << "sequence " << i;
  }
  EXPECT_LE(method->work().passes, 9u);  // one for each level of the deepest, not of each
}

TEST(SmallLm, LearnsALongPromptBesideTheTreesOfOthers) {
  const auto method = load();
  const auto brief = random_tokens(1, 12), lengthy = random_tokens(2, 200);
  method->begin(key_of(1), info_of(brief, 0));
  method->advance(key_of(1), brief);
  method->begin(key_of(2), info_of(lengthy, 0));
  method->advance(key_of(2), lengthy);
  const std::vector<DraftAsk> asks{{key_of(2), {}}, {key_of(1), {}}};
  int jobs = 0;
  for (Draft tree; !tree; ++jobs) {
    ASSERT_LT(jobs, 20);
    const uint64_t before = method->work().rows;
    auto trees = method->draft(asks);
    ASSERT_TRUE(trees.has_value());
    ASSERT_TRUE(trees->at(1).has_value()) << "who is up to date waits for nobody";
    EXPECT_LE(method->work().rows - before, 12u + 63u + 64u + kLearnRowsBeside);
    tree = trees->at(0);
    if (tree) {
      EXPECT_EQ(nodes_of(*tree), fresh(lengthy, info_of(lengthy, 0)));
    }
    method->advance(key_of(1), {});
  }
  EXPECT_EQ(jobs, 1 + 199 / kLearnRowsBeside);
}

TEST(SmallLm, ComputesAnewWhatItsCacheHadNoRoomFor) {
  const auto method = load({.cache_tokens = 256});  // two such sequences with room for a tree, not three
  std::vector<std::vector<TokenId>> tokens;
  for (uint64_t i = 0; i < 3; ++i) {
    tokens.push_back(random_tokens(i, 40));
    method->begin(key_of(i), info_of(tokens[i], 1.0F));
    method->advance(key_of(i), tokens[i]);
  }
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 3; ++i) {
      SequenceInfo info = info_of(tokens[i], 1.0F);
      info.prompt_length = 40;
      ASSERT_EQ(nodes_of(draft(*method, key_of(i))), fresh(tokens[i], info));
      method->advance(key_of(i), std::vector<TokenId>{7});
      tokens[i].push_back(7);
    }
  }
  EXPECT_GE(method->work().evictions, 6u);
}

TEST(SmallLm, StaysWithinTheTargetsVocabulary) {
  const auto method = load({.vocabulary = 20, .siblings_max = 8});
  const auto tokens = random_tokens(3, 15);
  method->begin(key_of(1), info_of(tokens, 1.0F));
  method->advance(key_of(1), tokens);
  const TokenTree tree = draft(*method, key_of(1), {.nodes_max = 30});
  EXPECT_FALSE(tree.empty());
  for (const TreeNode& node : tree.nodes()) EXPECT_LT(node.token, 20);
}

TEST(SmallLm, DraftsNothingAfterATokenThatItHasNoEmbeddingOf) {
  const auto method = load({.vocabulary = 1000});
  method->begin(key_of(1), info_of({5}, 0));
  method->advance(key_of(1), std::vector<TokenId>{5, kVocabulary, 6});
  EXPECT_TRUE(draft(*method, key_of(1)).empty());
}

TEST(SmallLm, DraftsNothingBeyondItsContext) {
  const auto method = load({.cache_tokens = 2048});
  auto tokens = random_tokens(4, 1022);  // of 1024
  method->begin(key_of(1), info_of(tokens, 0));
  method->advance(key_of(1), tokens);
  const TokenTree tree = draft(*method, key_of(1), {.nodes_max = 20, .depth_max = 8});
  for (int node = 0; node < tree.size(); ++node) EXPECT_LE(tree.depth(node), 2);
  method->advance(key_of(1), std::vector<TokenId>{5, 6, 7});
  EXPECT_TRUE(draft(*method, key_of(1)).empty());
}

TEST(SmallLm, StartsAnewWithABegin) {
  const auto method = load();
  const auto first = random_tokens(1, 20), second = random_tokens(2, 25);
  for (const auto& tokens : {first, second}) {
    method->begin(key_of(1), info_of(tokens, 1.0F));
    method->advance(key_of(1), tokens);
    EXPECT_EQ(nodes_of(draft(*method, key_of(1))), fresh(tokens, info_of(tokens, 1.0F)));
  }
}

TEST(SmallLm, RefusesOptionsOutOfRange) {
  for (const int siblings : {0, kSiblingsMax + 1}) {
    EXPECT_FALSE(SmallLm::load({.folder = kTiny, .vocabulary = kVocabulary, .siblings_max = siblings}).has_value());
  }
  EXPECT_FALSE(SmallLm::load({.folder = "nowhere", .vocabulary = kVocabulary}).has_value());
}

std::vector<double> softmax(std::span<const float> logits) {
  std::vector<double> law(logits.begin(), logits.end());
  const double most = *std::ranges::max_element(law);
  for (double& each : law) each = std::exp(each - most);
  const double sum = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& each : law) each /= sum;
  return law;
}

// Daliri, Musco, Suresh (2408.07978), Theorem 3: with shared exponential races, target and drafter agree on a token with this
// probability.
double race_agreement(const std::vector<double>& p, const std::vector<double>& q) {
  double agree = 0;
  for (size_t v = 0; v < p.size(); ++v) {
    double sum = 0;
    for (size_t u = 0; u < p.size(); ++u) sum += std::max(p[u] / p[v], q[u] / q[v]);
    agree += 1 / sum;
  }
  return agree;
}

// A drafter of other weights: of the nodes of its chains that the target reaches, each is accepted with the probability that
// the formula gives for the two laws behind the very prefix of that node.
TEST(SmallLm, IsAcceptedAsOftenAsTheRaceFormulaSaysAlongAChain) {
  constexpr int kTrials = 6000, kDepth = 3;
  const auto folder = noisy_model(kTiny, std::filesystem::path(testing::TempDir()) / "small_lm_noisy", 0.06F);
  const auto method = load({.folder = folder, .siblings_max = 1});
  Plain target, drafter(folder);
  std::mt19937_64 random(9);
  std::array<double, kDepth> expected{}, variance{}, accepted{}, reached{};
  double tv = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    auto tokens = random_tokens(random(), 8 + random() % 20);
    const SequenceInfo info = info_of(tokens, 1.0F, random());
    method->begin(key_of(1), info);
    method->advance(key_of(1), tokens);
    const TokenTree chain = draft(*method, key_of(1), {.nodes_max = kDepth});
    ASSERT_EQ(chain.size(), kDepth);
    for (size_t at = 0; at < kDepth; ++at) {
      const TokenId chosen = target.next(tokens, info);
      drafter.next(tokens, info);
      const auto p = softmax(target.logits()), q = softmax(drafter.logits());
      const double agree = race_agreement(p, q);
      ++reached[at];
      expected[at] += agree;
      variance[at] += agree * (1 - agree);
      if (at == 0) {
        for (size_t v = 0; v < p.size(); ++v) tv += std::abs(p[v] - q[v]) / 2 / kTrials;
      }
      if (chain.nodes()[at].token != chosen) break;
      ++accepted[at];
      tokens.push_back(chosen);
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
