// Tests of the simulator itself. A simulation that does not depend on its seed alone, or a network
// that loses what it should deliver, would prove nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/world.h"

namespace slipstream::sim {
namespace {

using testing::ElementsAre;
using testing::Gt;

TEST(Simulation, IsAFunctionOfItsSeed) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    World once(Scenario::draw(seed), true), again(Scenario::draw(seed), true);
    const Verdict verdict = once.live();
    EXPECT_EQ(verdict.happenings, again.live().happenings);
    EXPECT_EQ(once.trace(), again.trace());
    EXPECT_GT(once.trace().size(), 20u);
  }
}

TEST(Simulation, IsTheSameWithAndWithoutATrace) {
  World traced(Scenario::draw(7), true), untraced(Scenario::draw(7), false);
  EXPECT_EQ(traced.live().happenings, untraced.live().happenings);
  EXPECT_TRUE(untraced.trace().empty());
}

// A router is killed during an answer; another is separated from the only verifier for a while.
TEST(Simulation, ATraceTellsOfArrivalsEndsAndThatAllIsWellAgain) {
  using std::chrono::milliseconds;
  Scenario s{.seed = 1};
  s.routers = 2;
  s.verifiers = {{.cache_blocks = 64, .step_rows_max = 256}};
  s.begins.assign(3, Time(0));
  s.verifier_wait_ms = 10'000;
  s.asks.assign(2, {.when = std::chrono::seconds(1), .prompt = {1, 2, 3}, .sampling = {.temperature = 0}, .output_max = 40});
  s.asks[1].router = 1;
  const Machine verifier{Kind::verifier, 0}, first{Kind::router, 0}, second{Kind::router, 1};
  s.faults = {{.what = Fault::What::kill, .when = milliseconds(1040), .lasts = milliseconds(500), .whom = first, .from = {}},
              {.what = Fault::What::separate,
               .when = milliseconds(1050),
               .lasts = milliseconds(300),
               .whom = second,
               .from = verifier}};
  World world(s, true);
  EXPECT_EQ(world.live().broken, std::nullopt);
  const auto place = [&](const std::string& what) {
    const auto at = std::ranges::find_if(world.trace(), [&](const auto& line) { return line.find(what) != std::string::npos; });
    EXPECT_NE(at, world.trace().end()) << what;
    return at - world.trace().begin();
  };
  EXPECT_LT(place("-> verifier-0.1: Start"), place("<- router-0.1: Start"));
  EXPECT_LT(place("router-0.1     KILLED"), place("request 1 is CUT OFF by the end of its router"));
  EXPECT_LT(place("router-1.1     SEPARATED from verifier-0.1"), place("router-1.1     JOINED again with verifier-0.1"));
  EXPECT_LT(place("finish length"), place("request 2 is answered whole, with 40 tokens"));
}

// One slow verifier decodes eight answers; another verifier joins.
TEST(Rebalance, AVerifierThatJoinsUnderLoadTakesOverLiveRequests) {
  constexpr double kJoins = 2.0, kSoon = 1.0;  // seconds
  Scenario s{.seed = 1};
  s.verifiers.assign(2, {.cache_blocks = 64, .step_rows_max = 256});
  s.begins = {Time(0), Time(0), std::chrono::milliseconds(static_cast<int>(kJoins * 1000))};
  s.verifier_wait_ms = 10'000;
  s.asks.assign(8, {.when = std::chrono::seconds(1), .prompt = {1, 2, 3}, .sampling = {.temperature = 0}, .output_max = 110});
  s.faults = {{.what = Fault::What::slow,
               .when = std::chrono::milliseconds(900),
               .lasts = std::chrono::seconds(6),
               .whom = {Kind::verifier, 0},
               .from = {},
               .factor = 30}};
  World world(s, true);
  const Verdict verdict = world.live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  EXPECT_EQ(verdict.tallies.answered, 8u);
  EXPECT_GE(verdict.tallies.moved, 3u);
  const auto works = [](const std::string& line) {
    return line.find("verifier-1.1") < 20 && line.find("Tokens") != std::string::npos;
  };
  const auto first = std::ranges::find_if(world.trace(), works);
  ASSERT_NE(first, world.trace().end());
  EXPECT_LT(std::stod(*first), kJoins + kSoon) << *first;
}

// The same processes serve hundreds of requests: a block, a name or a reference that one request in
// a hundred leaks adds up.
TEST(Simulation, ASoakOfHalfAnHourLeavesNothingBehind) {
  const Verdict verdict = World(Scenario::soak(1, 90), false).live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  EXPECT_GT(verdict.end, std::chrono::minutes(29));
  EXPECT_GT(verdict.tallies.answered, 500u);
  EXPECT_GT(verdict.tallies.preempted, 0u);
  EXPECT_GT(verdict.tallies.prefix_tokens, 1000u);
}

// Eight answers are being decoded. The drafter is the target itself; it dies or hangs, at each of
// many moments.
void expect_short_pause(Fault::What what, int moment) {
  constexpr Time kDeadline{Tuning{}.deadline_us}, kStep{6000 + 30 * 8 * (1 + Tuning{}.nodes_max)}, kMessages{4 * 200};
  Scenario s{.seed = 1};
  s.verifiers = {{.cache_blocks = 64, .step_rows_max = kCpuStepRows}};
  s.drafters = {{}};
  s.begins.assign(3, Time(0));
  s.wait_share = 1000;  // steps wait for every tree
  s.verifier_wait_ms = 10'000;
  s.asks.assign(8, {.when = std::chrono::seconds(1), .prompt = {1, 2, 3}, .sampling = {.temperature = 0}, .output_max = 110});
  s.faults = {{.what = what,
               .when = std::chrono::milliseconds(1050) + Time(317 * moment),
               .lasts = std::chrono::seconds(1),
               .whom = {Kind::drafter, 0},
               .from = {}}};
  const Verdict verdict = World(s, false).live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  EXPECT_GT(verdict.tallies.accepted_nodes, 0u);
  EXPECT_LE(verdict.longest_pause, kDeadline + kStep + kMessages) << "moment " << moment;
}

TEST(DrafterLoss, CostsAStreamADeadlineAtMost) {
  for (int moment = 0; moment < 200; ++moment) expect_short_pause(Fault::What::kill, moment);
}

TEST(DrafterHang, CostsAStreamADeadlineAtMost) {
  for (int moment = 0; moment < 200; ++moment) expect_short_pause(Fault::What::freeze, moment);
}

// Two poor drafters whose trees have siblings and are merged: the oracle of World::wrong_verdicts()
// compares each verdict with the target's choice after that row, most of which are off the path.
TEST(Verdicts, AreTheTargetsChoicesAfterTheRowsOfEachDraftersOwnTree) {
  Scenario s{.seed = 3};
  s.verifiers = {{.cache_blocks = 64, .step_rows_max = kCpuStepRows, .resident = true, .knows_costs = true}};
  s.drafters = {{.noise = 0.3, .siblings = 0.5, .model = "small"}, {.noise = 0.5, .siblings = 0.5, .model = "large"}};
  s.begins.assign(4, Time(0));
  s.wait_share = 1000;
  s.verifier_wait_ms = 10'000;
  s.asks.assign(4, {.when = std::chrono::seconds(1), .prompt = {1, 2, 3}, .sampling = {.temperature = 1}, .output_max = 100});
  const Verdict verdict = World(s, false).live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  EXPECT_GT(verdict.tallies.verdicts, 300U);
  EXPECT_GT(verdict.tallies.rejected_nodes, 50U);
}

// The oracles of the world hold: the same words, and no node of a head that is the target itself is
// rejected, so its drafts always hang from the right root and read the right rows of the cache.
TEST(DraftHead, ThatIsTheTargetIsNeverRejected) {
  Scenario s{.seed = 4};
  s.verifiers = {{.cache_blocks = 64, .step_rows_max = kCpuStepRows, .head = 0, .knows_costs = true}};
  s.begins.assign(2, Time(0));
  s.verifier_wait_ms = 10'000;
  s.asks.assign(6, {.when = std::chrono::seconds(1), .prompt = {1, 2, 3}, .sampling = {.temperature = 1}, .output_max = 80});
  for (size_t i = 0; i < s.asks.size(); ++i) {
    s.asks[i].seed = i;
    s.asks[i].prompt.resize(3 + 7 * i, static_cast<TokenId>(4 + i));
  }
  s.asks[2].logits_params.frequency_penalty = 1.5F;
  const Verdict verdict = World(s, false).live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  EXPECT_GT(verdict.tallies.head_trees, 50U);
  EXPECT_GT(verdict.tallies.accepted_nodes, 200U);
  EXPECT_EQ(verdict.tallies.rejected_nodes, 0U);
}

// A head that is the target, in a process of its own: its drafter gets the features of every token
// but the newest, in order, also of prompts that were found in the prefix cache and of sequences
// that were preempted (the oracle of World::wrong_features()), and no node of it is rejected.
TEST(DraftHead, InAProcessOfItsOwnGetsTheFeaturesOfEveryToken) {
  Scenario s{.seed = 6};
  s.verifiers = {{.cache_blocks = 9, .step_rows_max = 24, .sends_features = true, .knows_costs = true}};
  s.drafters = {{.model = "small", .reads_features = true}};
  s.begins.assign(3, Time(0));
  s.wait_share = 1000;
  s.verifier_wait_ms = 10'000;
  s.asks.assign(12, {.when = std::chrono::seconds(1), .prompt = {1, 2, 3}, .sampling = {.temperature = 1}, .output_max = 60});
  for (size_t i = 0; i < s.asks.size(); ++i) {
    s.asks[i].seed = i;
    s.asks[i].prompt.resize(40 + i % 2, static_cast<TokenId>(4 + i / 3));
    s.asks[i].when += std::chrono::milliseconds(20 * i);
  }
  const Verdict verdict = World(s, false).live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  EXPECT_GT(verdict.tallies.preempted, 0U);
  EXPECT_GT(verdict.tallies.prefix_tokens, 0U);
  EXPECT_GT(verdict.tallies.features, 300U);
  EXPECT_GT(verdict.tallies.accepted_nodes, 100U);
  EXPECT_EQ(verdict.tallies.rejected_nodes, 0U);
}

// A device that serves hundreds of sequences, by messages that are lost and late.
TEST(ManySequences, ShareTheStepsOfOneVerifier) {
  constexpr int32_t kAtOnce = 200;
  Scenario s{.seed = 5};
  s.verifiers = {{.cache_blocks = 4096,
                  .step_rows_max = kStepRowsMax,
                  .sequences_max = kSequencesPerVerifierMax,
                  .head = 0.1,
                  .knows_costs = true}};
  s.drafters = {{.noise = 0.1}};
  s.begins.assign(3, Time(0));
  for (Weather& weather : s.climate) weather.lost = 0.01;
  s.verifier_wait_ms = 10'000;
  s.asks.assign(kAtOnce,
                {.when = std::chrono::seconds(1), .prompt = {1, 2, 3}, .sampling = {.temperature = 1}, .output_max = 60});
  for (size_t i = 0; i < s.asks.size(); ++i) s.asks[i].seed = i;
  World world(s, false);
  const Verdict verdict = world.live();
  EXPECT_EQ(verdict.broken, std::nullopt);
  EXPECT_EQ(verdict.tallies.answered, static_cast<uint64_t>(kAtOnce));
  EXPECT_GT(verdict.tallies.accepted_nodes, 0U);
  Time last_begins{}, first_ends = Time::max();
  for (const Client& client : world.clients()) {
    last_begins = std::max(last_begins, client.token_times().front());
    first_ends = std::min(first_ends, client.token_times().back());
  }
  EXPECT_LT(last_begins, first_ends) << "some waited for others to end";
}

// A step of one sequence in block 0: the context, followed by a tree.
StepPlan one_block() {
  StepPlan step;
  step.block_table = {0};
  step.blocks_max = 1;
  return step;
}
void add_row(StepPlan& step, TokenId token, int32_t position, int32_t slot, int32_t visible, uint64_t ancestors) {
  step.wanted.push_back(step.rows());
  step.token.push_back(token);
  step.position.push_back(position);
  step.slot.push_back(slot);
  step.sequence.push_back(0);
  step.visible.push_back(visible);
  step.ancestors.push_back(ancestors);
  step.sampling.push_back({.seed = 3, .position = static_cast<uint32_t>(position), .params = {.temperature = 1}});
}

TEST(ToyTarget, AnswersAlikeInAPromptAndInATree) {
  ToyTarget prompt({.weights = 5}, 1), tree({.weights = 5}, 1);
  StepPlan whole = one_block();
  for (int32_t i = 0; i < 5; ++i) add_row(whole, 10 + i, i, i, i + 1, 0);
  const auto expected = prompt.run(whole.view());

  StepPlan begin = one_block(), rest = one_block();
  for (int32_t i = 0; i < 2; ++i) add_row(begin, 10 + i, i, i, i + 1, 0);
  tree.run(begin.view());
  add_row(rest, 12, 2, 2, 2, 0b0001);  // the root
  add_row(rest, 7, 3, 3, 2, 0b0011);   // a child that is not in the prompt
  add_row(rest, 13, 3, 4, 2, 0b0101);  // its sibling, which is
  add_row(rest, 14, 4, 5, 2, 0b1101);  // and that one's child
  const auto sampled_tokens = tree.run(rest.view());
  EXPECT_THAT((std::vector{sampled_tokens[0], sampled_tokens[2], sampled_tokens[3]}),
              ElementsAre(expected[2], expected[3], expected[4]));
}

TEST(ToyTarget, AnswersWronglyWhenARowWasNotMoved) {
  ToyTarget moved({.weights = 5}, 1), unmoved({.weights = 5}, 1);
  const auto run = [](ToyTarget& target, std::vector<KvMove> moves) {
    StepPlan tree = one_block(), next = one_block();
    add_row(tree, 1, 0, 0, 0, 0b001);
    add_row(tree, 2, 1, 1, 0, 0b011);
    add_row(tree, 3, 1, 2, 0, 0b101);
    target.run(tree.view());
    next.moves = std::move(moves);
    for (int32_t i = 2; i < 8; ++i) add_row(next, 4, i, i, i + 1, 0);
    return target.run(next.view());
  };
  EXPECT_NE(run(moved, {{2, 1}}), run(unmoved, {}));
}

// Records the messages that it receives.
struct Ear final : Listener {
  std::vector<uint64_t> heard;
  int ups = 0, downs = 0;
  void up(Peer) override { ++ups; }
  void down(Peer) override { ++downs; }
  void hear(Peer, Message message) override { heard.push_back(std::get<Cancel>(message).sequence.counter); }
};

class LinksTest : public testing::Test {
 protected:
  LinksTest() {
    links.open(1, "server", server, "tcp://server");
    links.open(2, "client", client, std::nullopt);
    links.connect(2, Peer{1}, "tcp://server");
    wait(200);
  }
  void wait(int ms) { time.run_until(time.now() + std::chrono::milliseconds(ms)); }
  void send(int from, int count) {
    for (int i = 0; i < count; ++i) links.send(2, Peer{1}, Cancel{{0, static_cast<uint64_t>(from + i)}, 1});
  }

  VirtualTime time;
  Trace trace{time, false};
  Links links{time, trace, 1};
  Ear server, client;
};

TEST_F(LinksTest, KeepsOrderAndLosesNothingInFairWeather) {
  send(0, 500);
  wait(10);
  ASSERT_EQ(server.heard.size(), 500u);
  EXPECT_TRUE(std::ranges::is_sorted(server.heard));
  EXPECT_EQ(client.ups, 1);
  EXPECT_EQ(server.ups, 1);
}

TEST_F(LinksTest, LosesDoublesAndReordersInBadWeather) {
  links.set({Weather{}, Weather{.lost = 0.2, .doubled = 0.2, .reordered = 0.2}, Weather{}});
  send(0, 500);
  wait(5000);
  EXPECT_FALSE(std::ranges::is_sorted(server.heard));
  EXPECT_THAT(links.tallies().lost, Gt(50u));
  EXPECT_EQ(server.heard.size(), 500 - links.tallies().lost + links.tallies().doubled);
}

TEST_F(LinksTest, HoldsWhatIsSentInAShortSeparationAndDropsALongOne) {
  links.separate(1, 2);
  send(0, 5);
  wait(100);
  EXPECT_TRUE(server.heard.empty());
  links.join(1, 2);
  wait(1);
  EXPECT_THAT(server.heard, ElementsAre(0, 1, 2, 3, 4));

  links.separate(1, 2);
  send(5, 1);
  wait(6500);
  EXPECT_EQ(client.downs, 1);
  EXPECT_EQ(server.downs, 1);
  links.join(1, 2);
  wait(200);
  EXPECT_EQ(client.ups, 2);
  EXPECT_EQ(server.heard.size(), 5u);
}

TEST_F(LinksTest, DeliversTheLastWordsOfTheDead) {
  send(0, 3);
  links.close(2);
  wait(10);
  EXPECT_EQ(server.heard.size(), 3u);
  EXPECT_EQ(server.downs, 1);
}

TEST_F(LinksTest, ConnectsToWhoeverIsBoundNext) {
  links.close(1);
  wait(10);
  EXPECT_EQ(client.downs, 1);
  Ear second;
  links.open(3, "second", second, "tcp://server");
  wait(200);
  EXPECT_EQ(client.ups, 2);
  send(0, 1);
  wait(1);
  EXPECT_EQ(second.heard.size(), 1u);
}

TEST_F(LinksTest, HearsNothingMoreOfAPeerThatItDisconnected) {
  send(0, 1);
  wait(1);
  links.disconnect(1, incoming_peer(2));
  send(1, 1);
  wait(1);
  EXPECT_EQ(server.heard.size(), 1u);
}

}  // namespace
}  // namespace slipstream::sim
