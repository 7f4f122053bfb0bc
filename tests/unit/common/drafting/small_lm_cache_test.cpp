// What a SmallLm keeps, and computes once.
#include "tests/unit/common/drafting/small_lm_trial.h"

namespace slipstream {
namespace {

TEST(SmallLm, ComputesNothingAgainOfWhatWasAccepted) {
  const auto method = load({.siblings_max = 1});
  std::vector<TokenId> tokens = random_tokens(1, 20);
  method->begin(key_of(1), spec_of(tokens, 0));
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

TEST(SmallLm, ComputesAnewWhatItsCacheHadNoRoomFor) {
  const auto method = load({.cache_tokens = 256});  // two such sequences with room for a tree, not three
  std::vector<std::vector<TokenId>> tokens;
  for (uint64_t i = 0; i < 3; ++i) {
    tokens.push_back(random_tokens(i, 40));
    method->begin(key_of(i), spec_of(tokens[i], 1.0F));
    method->advance(key_of(i), tokens[i]);
  }
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 3; ++i) {
      GenerationSpec spec = spec_of(tokens[i], 1.0F);
      spec.prompt_length = 40;
      ASSERT_EQ(nodes_of(draft(*method, key_of(i))), fresh(tokens[i], spec));
      method->advance(key_of(i), std::vector<TokenId>{7});
      tokens[i].push_back(7);
    }
  }
  EXPECT_GE(method->work().evictions, 6u);
}

// A conversation comes back: of its 64 or 65 first tokens whole blocks are there, and all but the
// root may come from them.
TEST(SmallLm, ComputesNothingAgainOfWhatASequenceBeforeBeganWith) {
  for (const size_t shared : {64u, 65u, 90u}) {
    const auto method = load({.siblings_max = 1});
    std::vector<TokenId> tokens = random_tokens(1, shared);
    method->begin(key_of(1), spec_of(tokens, 0));
    method->advance(key_of(1), tokens);
    draft(*method, key_of(1), {.nodes_max = 1});
    method->end(key_of(1));
    const uint64_t rows = method->work().rows;

    method->begin(key_of(2), spec_of(tokens, 1.0F));
    method->advance(key_of(2), tokens);
    draft(*method, key_of(2), {.nodes_max = 1});
    EXPECT_EQ(method->work().prefix_tokens, (shared - 1) / kBlockTokens * kBlockTokens);
    EXPECT_EQ(method->work().rows - rows, shared - method->work().prefix_tokens) << "its root among them";
  }
}

TEST(SmallLm, IsAlwaysRightBehindABeginningThatItFoundInItsCache) {
  Plain target;
  const auto method = load({.cache_tokens = 256, .siblings_max = 1});  // sequences take turns, and blocks are evicted
  const std::vector<TokenId> system = random_tokens(1, 70);
  for (uint64_t i = 0; i < 12; ++i) {
    std::vector<TokenId> tokens = system;
    tokens.resize(32 + 7 * (i % 6));
    const auto own = random_tokens(i, 1 + i);
    tokens.insert(tokens.end(), own.begin(), own.end());
    const GenerationSpec spec = spec_of(tokens, i % 2 == 0 ? 0.0F : 1.0F, i);
    method->begin(key_of(i), spec);
    method->advance(key_of(i), tokens);
    SCOPED_TRACE(testing::Message() << "sequence " << i);
    expect_always_right(*method, target, key_of(i), tokens, spec, 3);
    if (HasFatalFailure()) return;
    if (i % 3 == 0) method->end(key_of(i));
  }
  EXPECT_GE(method->work().prefix_tokens, 11u * 32u);
}

}  // namespace
}  // namespace slipstream
