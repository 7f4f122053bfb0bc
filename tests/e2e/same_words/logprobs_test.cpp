// Log probabilities through the real processes are the model's own, and equal token by token
// with drafts and without.
#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/exact_distribution.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/prompt_ids.h"

namespace slipstream::e2e {
namespace {

using nlohmann::json;

json ask(Cluster& cluster, const json& fields) {
  json request{{"messages", {{{"role", "user"}, {"content", "hello"}}}},
               {"max_tokens", 60},
               {"seed", 11},
               {"ignore_eos", true},
               {"logprobs", true},
               {"top_logprobs", 20},
               {"slipstream", {{"tokens", true}}}};
  request.update(fields);
  const auto reply = cluster.client().post("/v1/chat/completions", request.dump());
  if (!reply || reply->status != 200) throw std::runtime_error(reply ? reply->body : reply.error().message);
  return json::parse(reply->body);
}

// The target drafts for itself, and every tree is waited for.
void start_drafting(Cluster& cluster) {
  cluster.start_router({"--deadline-us", "100000", "--trust", "local"});
  cluster.start_verifier(verify_every_draft({"--threads", "1"}));
  cluster.start_drafter({"--method", "small-lm", "--siblings", "2", "--threads", "1"});
  for (const char* service : {"verifier", "drafter"}) cluster.wait_ports(service);
  cluster.wait_ready();
  cluster.wait_drafter();
}

// The logprobs of the first three tokens, compared with the model's own distribution.
void expect_of(const ExactDistribution& distribution, const json& reply) {
  const auto ids = reply["slipstream"]["token_ids"].get<std::vector<TokenId>>();
  const json& content = reply["choices"][0]["logprobs"]["content"];
  for (size_t i = 0; i < distribution.length(); ++i) {
    const auto expected = distribution.after(std::span(ids).first(i));
    const double own = expected[static_cast<size_t>(ids[i])];
    EXPECT_NEAR(content[i]["logprob"], std::log(own), 1e-5);
    EXPECT_EQ(reply["slipstream"]["ranks"][i], 1 + std::ranges::count_if(expected, [&](double other) { return other > own; }));
    std::vector<double> falling(expected.begin(), expected.end());
    std::ranges::sort(falling, std::greater{});
    for (size_t place = 0; place < 20; ++place) {
      EXPECT_NEAR(content[i]["top_logprobs"][place]["logprob"], std::log(falling[place]), 1e-5);
    }
  }
}

TEST(Logprobs, AreTheSameToTheBitWithAndWithoutDrafts) {
  Cluster cluster(tiny_model());
  start_drafting(cluster);
  for (const json& fields : {json{{"temperature", 0}}, json{{"temperature", 1}}, json{{"temperature", 0.5}, {"top_k", 3}},
                             json{{"temperature", 1}, {"frequency_penalty", 1}, {"logit_bias", {{"9", 5}}}}}) {
    const json drafted = ask(cluster, fields);
    json plain_fields = fields;
    plain_fields["speculation"] = {{"enabled", false}};
    const json plain = ask(cluster, plain_fields);
    const json& content = drafted["choices"][0]["logprobs"]["content"];
    EXPECT_EQ(content.size(), 60U);
    EXPECT_EQ(content, plain["choices"][0]["logprobs"]["content"]) << fields;
    EXPECT_EQ(drafted["slipstream"]["token_ids"], plain["slipstream"]["token_ids"]);
    EXPECT_EQ(drafted["slipstream"]["ranks"].size(), 60U);
    EXPECT_EQ(drafted["slipstream"]["ranks"], plain["slipstream"]["ranks"]) << fields;
    for (const json& entry : content) EXPECT_EQ(entry["top_logprobs"].size(), 20U);
  }
  EXPECT_GT(FateMetrics(cluster.settled_verifier()).accepted, 50) << "nothing was drafted: the comparison says nothing";
}

// Logprobs are those before temperature, penalties and bias.
TEST(Logprobs, AreThoseOfTheModelItself) {
  const auto distribution = ExactDistribution::of(tiny_model(), prompt_ids(tiny_model(), "hello"), 3);
  ASSERT_TRUE(distribution) << distribution.error().message;
  Cluster cluster(tiny_model());
  cluster.start_all("none");
  expect_of(*distribution, ask(cluster, {{"temperature", 0.7}, {"repetition_penalty", 1.5}, {"logit_bias", {{"9", 5}}}}));
}

// Logprobs of accepted tokens, of tokens sampled in place of a rejected one, and of the tokens
// behind the last node.
TEST(Logprobs, FollowTheWalkOfAJudgedTree) {
  const auto distribution = ExactDistribution::of(tiny_model(), prompt_ids(tiny_model(), "hello"), 3);
  ASSERT_TRUE(distribution) << distribution.error().message;
  Cluster cluster(tiny_model());
  start_drafting(cluster);
  for (int seed = 0; seed < 20; ++seed) {
    expect_of(*distribution, ask(cluster, {{"max_tokens", 8},
                                           {"seed", seed},
                                           {"frequency_penalty", 1},
                                           {"speculation", {{"rule", "ratio"}, {"siblings", 2}}}}));
  }
  const FateMetrics fates(cluster.settled_verifier());
  EXPECT_GT(fates.accepted, 20);
  EXPECT_GT(fates.rejected, 0) << "each walk ended at a leaf";
}

}  // namespace
}  // namespace slipstream::e2e
