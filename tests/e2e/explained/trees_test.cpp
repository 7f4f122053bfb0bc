// `slipstream.trees` tells the draft trees that the verifier counted, and changes no word.
#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/prompt_ids.h"

namespace slipstream::e2e {
namespace {

using nlohmann::json;

constexpr const char* kWords = "Tell me of the sea.";
constexpr int kTrees = 64;
constexpr int kAnswer = 60;  // tokens, so no more rounds than trees that may be asked for

// slipstream: the request's object of that name.
json asking(const json& slipstream, int tokens = kAnswer, bool stream = false) {
  return {{"messages", {{{"role", "user"}, {"content", kWords}}}},
          {"temperature", 0},
          {"seed", 7},
          {"ignore_eos", true},
          {"max_tokens", tokens},
          {"stream", stream},
          {"slipstream", slipstream}};
}

json answer(Cluster& cluster, const json& slipstream, int tokens = kAnswer) {
  const auto reply = cluster.client().post("/v1/chat/completions", asking(slipstream, tokens).dump());
  if (!reply || reply->status != 200) throw std::runtime_error(reply ? reply->body : reply.error().message);
  return json::parse(reply->body);
}

// A scripted drafter whose trees the verifier waits for, and verifies whole. The useless one would
// send each tree just before its deadline.
void start(Cluster& cluster, const std::string& script) {
  const Cluster::Flags flags = script == "oracle" ? Cluster::Flags{"--answers", (cluster.folder() / "answers.json").string()}
                                                  : Cluster::Flags{"--margin-us", "999000"};
  cluster.start_router({"--deadline-us", "1000000"});
  cluster.start_verifier(verify_every_draft());
  cluster.start_scripted(script, flags);
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  cluster.wait_drafter();
  // The verifier links to it with the first request that names it, perhaps too late for that one.
  cluster.wait("a draft", [&] {
    answer(cluster, {{"tokens", false}}, 2);
    return FateMetrics(cluster.settled_verifier()).received > 0;
  });
}

json plain_answer() {
  Cluster cluster(tiny_model());
  cluster.start_all("none");
  return answer(cluster, {{"tokens", true}});
}

void write_answer(Cluster& cluster, const json& plain) {
  write_answers(cluster.folder() / "answers.json",
                {{prompt_ids(tiny_model(), kWords), plain["slipstream"]["token_ids"].get<std::vector<TokenId>>(), 7}});
}

int count(const json& trees, const std::string& fate) {
  int nodes = 0;
  for (const json& tree : trees) {
    for (const json& node : tree["nodes"]) nodes += node["fate"] == fate ? 1 : 0;
  }
  return nodes;
}

// The accepted path and the target's own choice are the answer's tokens.
void expect_told_of(const std::vector<int>& tokens, const json& trees) {
  for (const json& tree : trees) {
    size_t at = tree["index"];
    int parent = -1;
    for (size_t i = 0; i < tree["nodes"].size(); ++i) {
      const json& node = tree["nodes"][i];
      EXPECT_GE(node["chance"], 0);
      EXPECT_LE(node["chance"], 1);
      ASSERT_LT(node["by"], tree["proposers"].size());
      if (node["fate"] != "accepted") continue;
      EXPECT_EQ(node["parent"], parent);
      ASSERT_LT(at, tokens.size());
      EXPECT_EQ(node["token_id"], tokens[at++]);
      parent = static_cast<int>(i);
    }
    if (tree["own"].is_null()) {
      EXPECT_EQ(at, tokens.size()) << "only the end of an answer leaves it out";
    } else {
      ASSERT_LT(at, tokens.size());
      EXPECT_EQ(tree["own"]["token_id"], tokens[at]);
    }
  }
}

class TreesTold : public testing::TestWithParam<const char*> {};

TEST_P(TreesTold, AreThoseThatTheFatesCount) {
  const std::string script = GetParam();
  const json plain = plain_answer();
  EXPECT_FALSE(plain["slipstream"].contains("trees")) << "they were not asked for";
  Cluster cluster(tiny_model());
  write_answer(cluster, plain);
  start(cluster, script);
  const FateMetrics before(cluster.settled_verifier());
  const json drafted = answer(cluster, {{"tokens", true}, {"trees", kTrees}});
  const FateMetrics after(cluster.settled_verifier());
  EXPECT_EQ(drafted["choices"], plain["choices"]);
  const json& trees = drafted["slipstream"]["trees"];
  const int accepted = count(trees, "accepted"), rejected = count(trees, "rejected");
  fmt::print("{}: {} trees, {} nodes accepted, {} rejected\n", script, trees.size(), accepted, rejected);
  EXPECT_EQ(accepted, after.accepted - before.accepted);
  EXPECT_EQ(rejected, after.rejected - before.rejected);
  EXPECT_EQ(count(trees, "unreached"), after.unreached - before.unreached);
  EXPECT_LE(count(trees, "trimmed"), after.trimmed - before.trimmed);
  EXPECT_GT(script == "oracle" ? accepted : rejected, 0);
  EXPECT_EQ(script == "oracle" ? rejected : accepted, 0);
  expect_told_of(drafted["slipstream"]["token_ids"], trees);
  for (const json& tree : trees) EXPECT_EQ(tree["proposers"][0]["method"], script);

  EXPECT_EQ(answer(cluster, {{"tokens", true}})["choices"], plain["choices"]);
  const json last = answer(cluster, {{"trees", 2}});
  EXPECT_EQ(last["choices"], plain["choices"]);
  EXPECT_LE(last["slipstream"]["trees"].size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(WhoeverDrafts, TreesTold, testing::Values("oracle", "useless"),
                         [](const auto& script) { return std::string(script.param); });

// What a stream told, put together.
struct Streamed {
  std::vector<int> tokens;
  json trees = json::array();
};

Streamed streamed(Cluster& cluster, int tokens, const std::function<void(const Streamed&)>& looks) {
  Streamed told;
  const auto read = [&](std::string_view data) {
    if (data == "[DONE]") return true;
    const json chunk = json::parse(data);
    const json facts = chunk.value("slipstream", json::object());
    const size_t before = told.tokens.size();
    for (const int id : facts.value("token_ids", json::array())) told.tokens.push_back(id);
    for (const json& tree : facts.value("trees", json::array())) {
      EXPECT_GE(tree["index"], before) << "a tree comes with the tokens of its round";
      EXPECT_LT(tree["index"], told.tokens.size());
      if (!told.trees.empty()) {
        EXPECT_GT(tree["index"], told.trees.back()["index"]) << "and comes once";
      }
      told.trees.push_back(tree);
    }
    looks(told);
    return true;
  };
  const auto reply = cluster.client().post_stream("/v1/chat/completions",
                                                  asking({{"tokens", true}, {"trees", kTrees}}, tokens, true).dump(), read);
  if (!reply || reply->status != 200) throw std::runtime_error(reply ? reply->body : reply.error().message);
  return told;
}

TEST(TreesOfAStream, ComeOnceWithTheTokensOfTheirRound) {
  Cluster cluster(tiny_model());
  const json plain = plain_answer();
  write_answer(cluster, plain);
  start(cluster, "oracle");
  const double before = FateMetrics(cluster.settled_verifier()).accepted;
  const Streamed told = streamed(cluster, kAnswer, [](const Streamed&) {});
  EXPECT_EQ(json(told.tokens), plain["slipstream"]["token_ids"]);
  EXPECT_GT(told.trees.size(), 0U);
  EXPECT_EQ(count(told.trees, "accepted"), FateMetrics(cluster.settled_verifier()).accepted - before);
  expect_told_of(told.tokens, told.trees);
}

// Another verifier goes on with the answer. What was told stays true, and is not told again.
TEST(TreesOfAStream, ComeOnceWhenAVerifierDies) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_all("ngram");
  bool killed = false;
  size_t before = 0;
  const Streamed told = streamed(cluster, kLongAnswer, [&](const Streamed& so_far) {
    if (killed || so_far.trees.size() < 8) return;
    killed = true;
    before = so_far.trees.size();
    cluster.start_verifier(free_draft_nodes({"--threads", "1"}), "spare");
    cluster.kill("verifier", SIGKILL);
  });
  EXPECT_EQ(told.tokens.size(), static_cast<size_t>(kLongAnswer));
  EXPECT_GT(told.trees.size(), before);
  expect_told_of(told.tokens, told.trees);
  EXPECT_GT(cluster.metrics("router").sum(metric::kRouterStarts.name, {R"(kind="replay")"}), 0) << "it had ended before";
}

}  // namespace
}  // namespace slipstream::e2e
