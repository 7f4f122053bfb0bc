// What a tree that arrives is to its sequence: one row for each reason, and the drafters that a
// sequence does not listen to.
#include "services/verifier/rounds.h"

#include <functional>

#include "common/engine/sequence_cache.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

constexpr Round kRound = 5;
constexpr int32_t kLength = 10;

// A sequence in a round that asked for a tree, and the fence of the tree that it asked for.
struct AskedRound {
  explicit AskedRound(Rule rule)
      : sequence(SequenceIdentity{}, GenerationSpec{.prompt_length = kLength, .acceptance = {.rule = rule}},
                 CachedSequence(cache.pool(), kLength), fates) {
    sequence.context.append(std::vector<TokenId>(kLength, 1));
    sequence.drafting.round = kRound;
    ask.asked = true;
    fence = {.round = kRound, .base_length = kLength, .prefix_hash = sequence.context.hash().value()};
  }
  NodeFates fates;
  SequenceCache cache{32, [](const CachedSequence&) { return nullptr; }};
  VerifierSequence sequence;
  Fence fence;
  TreeAsk ask;
};

struct Classified {
  const char* name;
  Arrival as;
  std::function<void(AskedRound&)> but = [](AskedRound&) {};  // how the sequence or the fence differs
  Rule rule = Rule::greedy;
};

void ahead(AskedRound& round) {
  round.fence.base_length += 1;
  round.fence.prefix_hash ^= 1;
}

class ArrivingTree : public testing::TestWithParam<Classified> {};

TEST_P(ArrivingTree, IsClassifiedByTheFirstRowThatApplies) {
  AskedRound round(GetParam().rule);
  GetParam().but(round);
  EXPECT_EQ(classify(round.fence, round.sequence, round.ask), GetParam().as);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ArrivingTree,
    testing::Values(Classified{"fits", Arrival::fresh},
                    Classified{"fits_of_the_ratio_family", Arrival::fresh, [](AskedRound&) {}, Rule::ratio},
                    Classified{"ahead", Arrival::ahead, ahead},
                    Classified{"ahead_and_of_an_older_round", Arrival::ahead,
                               [](AskedRound& round) {
                                 ahead(round);
                                 round.fence.round -= 1;
                               }},
                    Classified{"ahead_of_the_ratio_family", Arrival::stale, ahead, Rule::ratio},
                    Classified{"older_round", Arrival::late, [](AskedRound& round) { round.fence.round -= 1; }},
                    Classified{"older_round_and_another_prefix", Arrival::late,
                               [](AskedRound& round) {
                                 round.fence.round -= 1;
                                 round.fence.base_length -= 1;
                                 round.fence.prefix_hash ^= 1;
                               }},
                    Classified{"later_round", Arrival::stale, [](AskedRound& round) { round.fence.round += 1; }},
                    Classified{"shorter_base", Arrival::stale, [](AskedRound& round) { round.fence.base_length -= 1; }},
                    Classified{"another_hash", Arrival::stale, [](AskedRound& round) { round.fence.prefix_hash ^= 1; }},
                    Classified{"not_asked_for", Arrival::stale, [](AskedRound& round) { round.ask.asked = false; }},
                    Classified{"answered_already", Arrival::stale, [](AskedRound& round) { round.ask.answered = true; }},
                    Classified{"answered_and_in_its_step", Arrival::stale,
                               [](AskedRound& round) {
                                 round.ask.answered = true;
                                 round.sequence.step.root_in_step = true;
                               }},
                    Classified{"in_its_step", Arrival::late,
                               [](AskedRound& round) { round.sequence.step.root_in_step = true; }}),
    [](const auto& row) { return row.param.name; });

using TreeOfAnotherDrafter = VerifierStage;

TEST_F(TreeOfAnotherDrafter, IsStaleAndNeverUsed) {
  constexpr Peer kOther{kDrafter.id + 1};
  Start start = second();
  start.drafters = {{77, "tcp://drafter"}, {78, "tcp://other"}};
  stage.hears(kRouter, start);
  attach();
  stage.up(kOther);
  stage.says<Attach>();
  stage.hears(kOther, Attached{.drafter = 78, .fingerprint = config().fingerprint, .method = "test"});
  runs();
  sample_token();  // the prompt and the first token, without drafts: no drafter was there yet
  const auto advance = stage.says<Advance>();
  ASSERT_EQ(advance.peer, kDrafter);
  stage.hears(kOther, tree({{14, kRoot, .9F}}, advance));
  EXPECT_EQ(verifier.counters().fates.of(Fate::stale), 1U);
  EXPECT_EQ(verifier.counters().fates.of(Fate::held), 0U);
  EXPECT_TRUE(stage.rests()) << "the tree that was asked for is still to come";
  stage.hears(kDrafter, tree({{14, kRoot, .9F}, {15, 0, .8F}}, advance));
  EXPECT_EQ(runs().rows(), 1 + 2);
}

}  // namespace
}  // namespace slipstream
