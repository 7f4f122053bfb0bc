// A verifier finds the prefix of one request in its cache for the next one. The words and the
// logprobs have the same bits, and only the rest of the prompt is computed.
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {
namespace {

using nlohmann::json;

constexpr int kBlock = 32;  // tokens that are kept together

json ask(Cluster& cluster, const json& messages, const std::string& api_key = "") {
  const json request{{"messages", messages}, {"max_tokens", 40},  {"temperature", 1.0}, {"seed", 11},
                     {"logprobs", true},     {"top_logprobs", 5}, {"ignore_eos", true}, {"slipstream", {{"tokens", true}}}};
  http::Client client = cluster.client();
  client.set_api_key(api_key);
  const auto reply = client.post("/v1/chat/completions", request.dump());
  if (!reply || reply->status != 200) throw std::runtime_error(reply ? reply->body : reply.error().message);
  return json::parse(reply->body);
}

int cached_tokens(const json& reply) { return reply["usage"]["prompt_tokens_details"]["cached_tokens"]; }

class PrefixCache : public testing::Test {
 protected:
  PrefixCache() {
    cluster.start_router();
    cluster.start_verifier();
    cluster.start_drafter();
    cluster.wait_ports("verifier");
    cluster.wait_ready();
    cluster.wait_drafter();
    std::string words;
    for (int i = 0; i < 40; ++i) words += "hello ";
    messages = json::array({{{"role", "user"}, {"content", words}}});
  }
  Cluster cluster{tiny_model()};
  json messages;
};

TEST_F(PrefixCache, HoldsNothingForOneTenantThatAnotherAsked) {
  const json one = ask(cluster, messages, "one"), two = ask(cluster, messages, "two"), none = ask(cluster, messages);
  EXPECT_EQ(cached_tokens(one), 0);
  EXPECT_EQ(cached_tokens(two), 0);
  EXPECT_EQ(cached_tokens(none), 0);
  EXPECT_GT(cached_tokens(ask(cluster, messages, "two")), 0);
  EXPECT_EQ(two["slipstream"]["token_ids"], one["slipstream"]["token_ids"]);
}

TEST_F(PrefixCache, GivesTheSameBitsAndLeavesOnlyTheRestToCompute) {
  const json first = ask(cluster, messages), again = ask(cluster, messages);
  const int prompt = first["usage"]["prompt_tokens"];
  ASSERT_GT(prompt, 2 * kBlock);
  EXPECT_EQ(cached_tokens(first), 0);
  EXPECT_EQ(cached_tokens(again), (prompt - 1) / kBlock * kBlock) << "all whole blocks before the last token";
  EXPECT_EQ(again["slipstream"]["token_ids"], first["slipstream"]["token_ids"]);
  EXPECT_EQ(again["choices"][0]["logprobs"], first["choices"][0]["logprobs"]);

  messages.push_back({{"role", "assistant"}, {"content", first["choices"][0]["message"]["content"]}});
  messages.push_back({{"role", "user"}, {"content", "more"}});
  const json next = ask(cluster, messages);
  EXPECT_GE(cached_tokens(next), (prompt - 1) / kBlock * kBlock);
  EXPECT_EQ(cluster.metrics("verifier").sum(metric::kVerifierPrefixTokens.name), cached_tokens(again) + cached_tokens(next));
}

}  // namespace
}  // namespace slipstream::e2e
