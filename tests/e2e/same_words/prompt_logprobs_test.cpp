// The logprobs of a prompt's tokens have the bits that the same tokens got when they were
// generated: in chunks, under drafts, with a warm prefix cache, and when a verifier dies.
#include <atomic>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {
namespace {

using nlohmann::json;

constexpr int kPrompt = 700, kAnswer = 60;  // tokens; a step has 256 rows

json post(http::Client client, const json& fields) {
  const auto reply = client.post("/v1/completions", fields.dump());
  if (!reply || reply->status != 200) throw std::runtime_error(reply ? reply->body : reply.error().message);
  return json::parse(reply->body);
}

std::vector<int> prompt() {
  std::vector<int> ids;
  for (int i = 0; i < kPrompt; ++i) ids.push_back(4 + (i * i + i / 7) % 50);
  return ids;
}

struct Generated {
  std::vector<int> tokens;  // prompt and answer
  json logprobs;            // lists, of the answer
  json ranks;               // of its tokens
};

Generated generate(Cluster& cluster, double temperature) {
  Generated made{.tokens = prompt()};
  const json reply = post(cluster.client(), {{"prompt", made.tokens},
                                             {"max_tokens", kAnswer},
                                             {"temperature", temperature},
                                             {"seed", 5},
                                             {"logprobs", 5},
                                             {"ignore_eos", true},
                                             {"slipstream", {{"tokens", true}}}});
  made.logprobs = reply["choices"][0]["logprobs"];
  made.ranks = reply["slipstream"]["ranks"];
  for (const int id : reply["slipstream"]["token_ids"]) made.tokens.push_back(id);
  return made;
}

json scoring(const std::vector<int>& tokens, int tokens_max = 0) {
  return {{"prompt", tokens}, {"echo", true}, {"logprobs", 5}, {"max_tokens", tokens_max}, {"temperature", 0}};
}

// Of the reply to scoring(), whose lists go on with the tokens generated behind the prompt.
void expect_same(const json& lists, const Generated& made) {
  ASSERT_GE(lists["token_logprobs"].size(), made.tokens.size());
  EXPECT_TRUE(lists["token_logprobs"][0].is_null());
  for (size_t i = 0; i < kAnswer; ++i) {
    const size_t at = kPrompt + i;
    EXPECT_EQ(lists["token_logprobs"][at], made.logprobs["token_logprobs"][i]) << i;
    EXPECT_EQ(lists["top_logprobs"][at], made.logprobs["top_logprobs"][i]) << i;
    EXPECT_EQ(lists["tokens"][at], made.logprobs["tokens"][i]);
  }
}

void start(Cluster& cluster, const Cluster::Flags& drafter) {
  cluster.start_router({"--deadline-us", "100000"});
  cluster.start_verifier(verify_every_draft({"--threads", "1"}));
  cluster.start_drafter(drafter);
  for (const char* service : {"verifier", "drafter"}) cluster.wait_ports(service);
  cluster.wait_ready();
  cluster.wait_drafter();
}

TEST(PromptLogprobs, AreThoseOfTheSameTokensWhenGenerated) {
  Cluster cluster(tiny_model_with_room());
  start(cluster, {"--method", "small-lm", "--siblings", "2", "--threads", "1"});
  for (const double temperature : {0.0, 1.0}) {
    const Generated made = generate(cluster, temperature);
    const json cold = post(cluster.client(), scoring(made.tokens)), warm = post(cluster.client(), scoring(made.tokens));
    expect_same(cold["choices"][0]["logprobs"], made);
    EXPECT_EQ(warm["choices"], cold["choices"]);
    EXPECT_EQ(cold["choices"][0]["logprobs"]["tokens"].size(), made.tokens.size());
    EXPECT_EQ(cold["usage"]["completion_tokens"], 0);
    EXPECT_EQ(cold["choices"][0]["finish_reason"], "length");

    const json with_one = post(cluster.client(), scoring(made.tokens, 1));  // as lm-eval asks
    EXPECT_EQ(with_one["choices"][0]["logprobs"]["tokens"].size(), made.tokens.size() + 1);
    expect_same(with_one["choices"][0]["logprobs"], made);

    const json by_id = post(cluster.client(), {{"prompt", made.tokens}, {"prompt_logprobs", 0}, {"max_tokens", 0}});
    const json& told = by_id["choices"][0]["prompt_logprobs"];
    for (size_t i = 0; i < kAnswer; ++i) {
      EXPECT_EQ(told[kPrompt + i][std::to_string(made.tokens[kPrompt + i])]["rank"], made.ranks[i]) << i;
    }
  }
}

// vLLM's field tells the same numbers, of several prompts and choices beside each other.
TEST(PromptLogprobs, AreTheSameByVllmsNameAndBesideOthers) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_all("ngram");
  const std::vector<int> whole = prompt(), half(whole.begin(), whole.begin() + kPrompt / 2);
  const json lists = post(cluster.client(), scoring(whole))["choices"][0]["logprobs"]["token_logprobs"];
  const json reply = post(cluster.client(), {{"prompt", {whole, half}}, {"n", 2}, {"prompt_logprobs", 0}, {"max_tokens", 4}});
  ASSERT_EQ(reply["choices"].size(), 4U);
  for (size_t choice = 0; choice < 4; ++choice) {
    const json& told = reply["choices"][choice]["prompt_logprobs"];
    ASSERT_EQ(told.size(), choice < 2 ? whole.size() : half.size());
    for (size_t i = 1; i < told.size(); ++i) EXPECT_EQ(told[i][std::to_string(whole[i])]["logprob"], lists[i]);
  }
}

// Four clients score while the verifier that does most of it dies; another goes on where the router
// stands. Scoring is quick beside reading the answers, so it may have nothing to do when it dies:
// then the next one does.
TEST(PromptLogprobs, AreTheSameWhenAVerifierDies) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_all("none");
  cluster.start_verifier({"--threads", "1"}, "spare");
  cluster.wait_ports("spare");
  std::vector<int> tokens;
  while (tokens.size() < 6000) {
    for (const int id : prompt()) tokens.push_back(id);
  }
  const json expected = post(cluster.client(), scoring(tokens))["choices"];
  std::atomic<int> answers = 0, wrong = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const auto reply = cluster.client().post("/v1/completions", scoring(tokens).dump());
        wrong += reply && reply->status == 200 && json::parse(reply->body)["choices"] == expected ? 0 : 1;
        ++answers;
      }
    });
  }
  cluster.wait("answers", [&] { return answers >= 4; });
  const auto started = [&](const std::string& verifier) {
    return cluster.metrics(verifier).sum(metric::kVerifierSequencesStarted.name);
  };
  const auto replays = [&] { return cluster.metrics("router").sum(metric::kRouterStarts.name, {R"(kind="replay")"}); };
  for (int deaths = 0; replays() == 0; ++deaths) {
    ASSERT_LT(deaths, 40) << "nobody was scored when they died";
    const std::string busier = started("verifier") > started("spare") ? "verifier" : "spare";
    cluster.kill(busier, SIGKILL);
    cluster.start_verifier({"--threads", "1"}, busier);
    cluster.wait_ports(busier);
    const int before = answers;
    cluster.wait("more answers", [&] { return answers >= before + 8; });
  }
  for (std::jthread& client : clients) client.request_stop();
  clients.clear();
  EXPECT_EQ(wrong, 0);
}

// Messages are lost, doubled and overtaken between verifier and router.
TEST(PromptLogprobs, AreTheSameOverABadNetwork) {
  Cluster cluster(tiny_model_with_room());
  cluster.start_proxy("router", {"--loss", "0.1", "--duplicate", "0.1", "--reorder", "0.1", "--reorder-ms", "10"});
  cluster.start_router();
  cluster.start_verifier({"--threads", "1"});
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  Cluster peace(tiny_model_with_room());
  peace.start_all("none");
  std::vector<int> tokens = prompt();
  for (int i = 0; i < 3; ++i) tokens.insert(tokens.end(), tokens.begin(), tokens.begin() + kPrompt);
  const json expected = post(peace.client(), scoring(tokens, 3))["choices"];
  for (int i = 0; i < 20; ++i) EXPECT_EQ(post(cluster.client(), scoring(tokens, 3))["choices"], expected);
}

}  // namespace
}  // namespace slipstream::e2e
