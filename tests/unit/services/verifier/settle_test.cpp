#include "services/verifier/settle.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

struct Scene {
  SequenceCache cache{8, [](const CachedSequence&) { return nullptr; }};
  VerifierCounters counters;
  VerifierSequence sequence;
  BatchSlice slice{.decodes = true, .tree = {}};

  explicit Scene(std::vector<TreeNode> nodes, int32_t output_max = 100)
      : sequence({}, {.prompt_length = 3, .output_max = output_max, .stop_ids = {9}}, CachedSequence(cache.pool(), 3),
                 counters.fates) {
    sequence.context.append(std::vector<TokenId>{1, 2, 3});
    EXPECT_TRUE(cache.reserve(sequence.context, 40, MayEvict::prefixes));
    sequence.context.computed(2);
    slice.tree = DraftTree(*TokenTree::make(std::move(nodes), 100));
    slice.kinds.assign(static_cast<size_t>(slice.tree.size()), 0);
    sequence.fates.arrive(0, slice.kinds.size());
  }

  // sampled_tokens: the target's token after each row.
  Settled settled(const std::vector<TokenId>& sampled_tokens) {
    return settle(sequence, slice, walk(slice.tree.tokens(), sampled_tokens), counters);
  }
};

TEST(Settle, MovesTheAcceptedPathBehindTheContext) {
  Scene scene({{50, kRoot, .9F}, {4, kRoot, .8F}, {5, 1, .7F}});
  const Settled settled = scene.settled(std::vector<TokenId>{4, 0, 5, 6});
  EXPECT_EQ(settled.emitted, 3);
  EXPECT_EQ(scene.sequence.context.tokens(), (std::vector<TokenId>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(scene.sequence.context.cached(), 5);
  EXPECT_EQ(scene.sequence.context.pending_moves().size(), 2u) << "rows 2 and 3 of the tree to rows 1 and 2";
}

TEST(Settle, CountsWhatTheLengthLimitCutsAsUnreached) {
  Scene scene({{4, kRoot, .9F}, {5, 0, .8F}}, 1);
  scene.settled(std::vector<TokenId>{4, 5, 6});
  EXPECT_EQ(scene.sequence.context.tokens().back(), 4);
  EXPECT_EQ(scene.sequence.output.finish, Finish::length);
  EXPECT_EQ(scene.counters.fates.of(Fate::accepted), 1U);
  EXPECT_EQ(scene.counters.fates.of(Fate::unreached), 1U);
  EXPECT_EQ(scene.sequence.fates.of(Fate::held), 0U);
}

// Row 1 is off the path; the one behind the last accepted node gives the token that follows.
TEST(Settle, CountsNearTiesOfTheTokensThatAreEmitted) {
  Scene scene({{50, kRoot, .9F}, {4, kRoot, .8F}, {51, 1, .7F}});
  const Settled settled = scene.settled(std::vector<TokenId>{4, 0, 5, 0});
  add_near_ties(scene.sequence, settled, std::vector<uint8_t>{0, 0, 1, 1}, scene.counters);
  EXPECT_EQ(scene.counters.near_ties, 1U);
  add_near_ties(scene.sequence, settled, std::vector<uint8_t>{1, 0, 0, 0}, scene.counters);
  EXPECT_EQ(scene.sequence.output.near_ties, 2U);
}

TEST(Settle, IgnoresNonFiniteLogitsOffThePath) {
  Scene scene({{50, kRoot, .9F}});
  scene.settled(std::vector<TokenId>{4, -1});
  EXPECT_TRUE(scene.sequence.running());
}

}  // namespace
}  // namespace slipstream
