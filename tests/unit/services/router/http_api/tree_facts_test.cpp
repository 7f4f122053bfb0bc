#include "services/router/http_api/tree_facts.h"

#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

class TreeFactsTest : public HttpApiTest {
 protected:
  std::vector<TokenId> tokens(std::string_view text) { return tokenizer().encode(text, true).value(); }
  // Of a round that began at this output index: "x" was accepted, "y" not.
  TreeReport report_at(int32_t first_index) {
    return {.first_index = first_index,
            .own = tokens("z").front(),
            .proposers = {{"ngram", ""}, {"small-lm", "tiny"}},
            .nodes = {{.token = tokens("x").front(), .parent = kRoot, .chance = 0.5F, .by = 0, .fate = NodeFate::accepted},
                      {.token = tokens("y").front(), .parent = 0, .chance = 0.25F, .by = 1, .fate = NodeFate::rejected}}};
  }
  // Tokens of the answer, with reports of the rounds that began at these output indices.
  void deliver_with(RequestId id, std::string_view text, const std::vector<int32_t>& rounds, Finish finish = Finish::none) {
    Delivery delivery{.request = id, .ids = tokens(text), .finish = finish};
    delivery.drafted.assign(delivery.ids.size(), 0);
    delivery.depths.assign(delivery.ids.size(), 2);
    for (const int32_t first : rounds) delivery.trees.push_back(report_at(first));
    api.deliver(std::move(delivery));
  }
  static std::vector<int> firsts(const json& trees) {
    std::vector<int> all;
    for (const json& tree : trees) all.push_back(tree["index"]);
    return all;
  }
};

TEST_F(TreeFactsTest, AreToldByAWholeAnswerTheLastOnesOnly) {
  auto reply = post(ask(R"("slipstream":{"trees":2})"));
  const auto submit = inbox.take<Submit>();
  EXPECT_EQ(submit.spec.trees, 2);
  deliver_with(submit.request, "abc", {0, 1});
  deliver_with(submit.request, "d", {3}, Finish::length);
  const json told = json::parse(reply.get().body)["slipstream"];
  EXPECT_THAT(firsts(told["trees"]), ElementsAre(1, 3));
  EXPECT_FALSE(told.contains("token_ids")) << "they were not asked for";
  const json& tree = told["trees"][0];
  EXPECT_EQ(tree["proposers"], json::parse(R"([{"method":"ngram","model":""},{"method":"small-lm","model":"tiny"}])"));
  EXPECT_EQ(
      tree["nodes"][0],
      (json{
          {"token_id", tokens("x").front()}, {"text", "x"}, {"parent", -1}, {"by", 0}, {"chance", 0.5}, {"fate", "accepted"}}));
  EXPECT_EQ(tree["nodes"][1]["fate"], "rejected");
  EXPECT_EQ(tree["own"], (json{{"token_id", tokens("z").front()}, {"text", "z"}}));
}

TEST_F(TreeFactsTest, ComeInAStreamWithTheTokensOfTheirRound) {
  auto streamed = stream(ask(R"("stream":true,"slipstream":{"trees":2})"));
  const auto submit = inbox.take<Submit>();
  deliver_with(submit.request, "abc", {0, 1});
  deliver_with(submit.request, "d", {});
  deliver_with(submit.request, "e", {4}, Finish::length);
  const auto got = streamed.get();
  EXPECT_THAT(firsts(got[1]["slipstream"]["trees"]), ElementsAre(0, 1));
  EXPECT_FALSE(got[2].contains("slipstream"));
  EXPECT_THAT(firsts(got[3]["slipstream"]["trees"]), ElementsAre(4));
}

TEST_F(TreeFactsTest, OfSeveralChoicesAreToldWithTheirOwn) {
  auto reply = post(ask(R"("n":2,"slipstream":{"trees":9})"));
  const auto first = inbox.take<Submit>();
  deliver_with(first.request, "a", {0});
  const auto second = inbox.take<Submit>();
  deliver_with(second.request, "abc", {1}, Finish::length);
  deliver_with(first.request, "d", {1}, Finish::length);
  const json body = json::parse(reply.get().body);
  EXPECT_THAT(firsts(body["choices"][0]["slipstream"]["trees"]), ElementsAre(0, 1));
  EXPECT_THAT(firsts(body["choices"][1]["slipstream"]["trees"]), ElementsAre(1));
}

TEST_F(TreeFactsTest, EndWithTheAnswerThatAStopStringEnds) {
  auto reply = post(ask(R"("stop":["b"],"slipstream":{"trees":9})"));
  deliver_with(inbox.take<Submit>().request, "abc", {0, 2});
  EXPECT_THAT(firsts(json::parse(reply.get().body)["slipstream"]["trees"]), ElementsAre(0));
}

// "abcd" was accepted with "e" behind it, and beside "c" a guess was rejected; the answer ends with
// "b". So "c" and what stood beside it were never compared, and the model's own choice is not told.
TEST_F(TreeFactsTest, TellNothingOfWhatLiesBehindAStopString) {
  auto reply = post(ask(R"("stop":["b"],"slipstream":{"tokens":true,"trees":9})"));
  Delivery delivery{.request = inbox.take<Submit>().request, .ids = tokens("abcde"), .finish = Finish::none};
  delivery.drafted.assign(5, 1);
  delivery.depths.assign(5, 4);
  TreeReport report{.first_index = 0, .own = tokens("e").front(), .proposers = {{"ngram", ""}}, .nodes = {}};
  const auto add = [&](const char* text, int32_t parent, NodeFate fate) {
    report.nodes.push_back({.token = tokens(text).front(), .parent = parent, .chance = 0.5F, .by = 0, .fate = fate});
  };
  add("a", kRoot, NodeFate::accepted);
  add("x", kRoot, NodeFate::rejected);
  add("b", 0, NodeFate::accepted);
  add("y", 0, NodeFate::rejected);
  add("c", 2, NodeFate::accepted);
  add("z", 2, NodeFate::rejected);
  add("d", 4, NodeFate::accepted);
  add("w", 4, NodeFate::trimmed);
  delivery.trees.push_back(report);
  api.deliver(std::move(delivery));
  const json told = json::parse(reply.get().body)["slipstream"];
  EXPECT_EQ(told["token_ids"].size(), 2u);
  std::vector<std::string> fates;
  for (const json& node : told["trees"][0]["nodes"]) fates.push_back(node["fate"]);
  EXPECT_THAT(fates,
              ElementsAre("accepted", "rejected", "accepted", "rejected", "unreached", "unreached", "unreached", "trimmed"));
  EXPECT_TRUE(told["trees"][0]["own"].is_null());
}

TEST_F(TreeFactsTest, AreAnEmptyListWhereNothingWasGuessed) {
  auto reply = post(ask(R"("slipstream":{"trees":1})"));
  deliver_with(inbox.take<Submit>().request, "a", {}, Finish::length);
  EXPECT_EQ(json::parse(reply.get().body)["slipstream"]["trees"], json::array());
}

TEST_F(TreeFactsTest, AreNotToldToThoseWhoDidNotAsk) {
  for (const std::string fields : {R"("max_tokens":8)", R"("slipstream":{"trees":0})", R"("slipstream":{"trees":null})"}) {
    auto reply = post(ask(fields));
    const auto submit = inbox.take<Submit>();
    EXPECT_EQ(submit.spec.trees, 0);
    deliver_with(submit.request, "a", {}, Finish::length);
    EXPECT_FALSE(json::parse(reply.get().body)["slipstream"].contains("trees"));
  }
}

TEST_F(TreeFactsTest, ComeAtTheEndOfAnAnswerInBlocks) {
  auto streamed = stream(R"({"input":"hi","stream":true,"slipstream":{"trees":2}})", "/v1/responses");
  const auto submit = inbox.take<Submit>();
  deliver_with(submit.request, "abc", {0, 1});
  deliver_with(submit.request, "d", {3}, Finish::length);
  const json last = json::parse(streamed.get().events.back());
  EXPECT_THAT(firsts(last["response"]["slipstream"]["trees"]), ElementsAre(1, 3));
}

TEST_F(TreeFactsTest, ThatCannotBeAskedForAreRefused) {
  for (const std::string bad : {"-1", "65", "2.5", "true", R"("3")", "[1]"}) {
    const auto reply = post(ask(fmt::format(R"("slipstream":{{"trees":{}}})", bad))).get();
    EXPECT_EQ(reply.status, 400) << bad;
    const json error = json::parse(reply.body)["error"];
    EXPECT_EQ(error["param"], "slipstream.trees");
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("an integer between 0 and 64"));
  }
  const std::string nine = R"({"prompt":["1","2","3","4","5","6","7","8","9"],"slipstream":{"trees":64}})";
  const json error = json::parse(post(nine, "/v1/completions").get().body)["error"];
  EXPECT_EQ(error["param"], "slipstream.trees");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("64 trees of each of 9 choices; the limit is 512"));
  const auto reply = post(ask(R"("slipstream":{"tree":1})")).get();
  EXPECT_EQ(json::parse(reply.body)["error"]["message"],
            "`slipstream.tree` is unknown: `slipstream` takes `tokens` and `trees` only.");
}

}  // namespace
}  // namespace slipstream
