// The scripted drafters send what they claim to send.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "common/wire/codec.h"
#include "common/zmq/envelope.h"
#include "tests/data/own_path.h"
#include "tests/e2e/scripted/delayed_drafter.h"
#include "tests/e2e/scripted/mischief.h"
#include "tests/e2e/scripted/oracle_method.h"
#include "tests/e2e/scripted/random_method.h"
#include "tests/e2e/scripted/useless_method.h"
#include "tests/unit/services/drafter/drafter_stage.h"

namespace slipstream {
namespace {

using namespace std::chrono_literals;

const DraftKey kKey{kVerifier, kSequence};

TokenTree ask(Method& method, const std::vector<TokenId>& tokens, const StopRule& rule = {}, uint64_t seed = 0) {
  method.begin(kKey, {.prompt_length = static_cast<int32_t>(tokens.size()), .sampling = {}, .seed = seed});
  method.advance(kKey, tokens);
  const std::vector<DraftAsk> asks{{kKey, rule}};
  return method.draft(asks)->at(0).value().tokens();
}

TEST(RandomMethod, DraftsValidTreesWithSeveralChildren) {
  RandomMethod method(100, 1);
  int wide = 0;
  for (int i = 0; i < 200; ++i) {
    const TokenTree tree = ask(method, {1, 2, 3}, {.nodes_max = 12, .depth_max = 4});
    EXPECT_LE(tree.size(), 12);
    EXPECT_GE(tree.size(), 1);
    const std::vector<TreeNode> nodes(tree.nodes().begin(), tree.nodes().end());
    EXPECT_TRUE(TokenTree::make(nodes, 100));
    wide += std::ranges::count(nodes, kRoot, &TreeNode::parent) > 1;
  }
  EXPECT_GT(wide, 100);
}

TEST(OracleMethod, DraftsTheRestOfAKnownAnswer) {
  OracleMethod method({{.tokens = {1, 2, 9}}, {.tokens = {1, 2, 3, 4, 5, 6}}});
  const TokenTree tree = ask(method, {1, 2, 3}, {.nodes_max = 2});
  ASSERT_EQ(tree.size(), 2);
  EXPECT_EQ(tree.nodes()[0].token, 4);
  EXPECT_EQ(tree.nodes()[1].token, 5);
  EXPECT_TRUE(ask(method, {1, 2, 7}).empty());
  EXPECT_TRUE(ask(method, {1, 2, 3, 4, 5, 6}).empty());
}

TEST(OracleMethod, TellsAnswersOfOnePromptApartBySeed) {
  OracleMethod method({{.tokens = {1, 2, 3}, .seed = 7}, {.tokens = {1, 2, 4}, .seed = 8}});
  EXPECT_EQ(ask(method, {1, 2}, {}, 8).nodes()[0].token, 4);
  EXPECT_TRUE(ask(method, {1, 2}, {}, 9).empty());
}

TEST(OracleMethod, RemembersWhatItHeard) {
  OracleMethod method({});
  EXPECT_TRUE(ask(method, {1, 2}, {}, 7).empty());
  method.advance(kKey, std::vector<TokenId>{3, 4});
  method.end(kKey);
  EXPECT_EQ(ask(method, {1, 2}, {}, 7).size(), 2);
  EXPECT_TRUE(ask(method, {1, 2}, {}, 8).empty());
}

TEST(OracleMethod, ReadsListsAndListsWithASeed) {
  const auto file = own_path("answers.json");
  std::ofstream(file) << R"([[1, 2], {"tokens": [3], "seed": 5}])";
  const auto answers = read_answers(file);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->at(0).tokens, (std::vector<TokenId>{1, 2}));
  EXPECT_EQ(answers->at(1).seed, 5u);
  std::ofstream(file) << R"([[1, "two"]])";
  EXPECT_FALSE(read_answers(file));
}

TEST(UselessMethod, FillsTheBudget) {
  UselessMethod method(49152);
  EXPECT_EQ(ask(method, {1}, {.nodes_max = 8, .depth_max = 8}).size(), 8);
  EXPECT_EQ(ask(method, {1}, {.nodes_max = 63, .depth_max = 32}).size(), 32);
}

TEST(DelayedDrafter, SendsItsTreeAtItsMoment) {
  for (const auto& [offset, due] : {std::pair<Time, Time>{-500us, 2500us}, {1000us, 4000us}}) {
    DelayedDrafter drafter(drafter_config(), offset);
    Stage<DelayedDrafter> stage(drafter);
    stage.hears(kVerifier, Attach{.versions = {}, .verifier = 1, .fingerprint = kTokens});
    stage.hears(kVerifier, first_advance({10}));
    stage.runs<DraftPlan>();
    stage.waits(100us);
    stage.finishes(Drafts{.trees = {DraftTree(TokenTree::chain(std::vector<TokenId>{20}, 0.5F))}});
    stage.waits(due - 101us);
    EXPECT_TRUE(stage.silent<Tree>());
    stage.waits(1us);
    EXPECT_FALSE(stage.silent<Tree>());
  }
}

TEST(DelayedDrafter, SpeaksAtOnceOtherwise) {
  DelayedDrafter drafter(drafter_config(), 1s);
  Stage<DelayedDrafter> stage(drafter);
  stage.up(kRouter);
  EXPECT_FALSE(stage.silent<Hello>());
  stage.waits(3s);
  EXPECT_FALSE(stage.silent<Hello>());
}

class EveryMischief : public testing::TestWithParam<Mischief> {
 protected:
  static Tree honest() {
    return {.fence = {.sequence = kSequence, .epoch = 1, .round = 3, .base_length = 5, .prefix_hash = 6},
            .nodes = {{1, kRoot, 0.5F}, {2, 0, 0.25F}}};
  }
};

// What it hands to ZeroMQ gets to the decoder only through the envelope, and to the model only
// through TokenTree::make.
TEST_P(EveryMischief, IsDecodedOrRefused) {
  MischiefContext context{.self = 5, .vocabulary = 100, .random = std::mt19937_64(3)};
  for (int i = 0; i < 50; ++i) {
    for (const Parcel& parcel : GetParam().parcels(honest(), context)) {
      if (parcel.size() != 2 || !unpack(parcel[0])) continue;
      const auto message = wire::decode_draft(parcel[1]);
      const Tree* tree = message ? std::get_if<Tree>(&*message) : nullptr;
      if (tree != nullptr) (void)TokenTree::make(tree->nodes, context.vocabulary);
    }
  }
}

TEST_P(EveryMischief, DiffersFromTheHonestTree) {
  MischiefContext context{.self = 5, .vocabulary = 100, .random = std::mt19937_64(3)};
  const auto envelope = pack({Boundary::draft, 5});
  const std::vector<Parcel> good{{{envelope.begin(), envelope.end()}, wire::encode(DraftMessage(honest()))}};
  EXPECT_EQ(GetParam().parcels(honest(), context) == good, GetParam().name == "the_honest_tree");
}

INSTANTIATE_TEST_SUITE_P(Mischief, EveryMischief, testing::ValuesIn(all_mischief().begin(), all_mischief().end()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace slipstream
