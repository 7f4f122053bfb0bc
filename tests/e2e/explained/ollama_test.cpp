// Ollama's API through the real processes: the same words as OpenAI's, as lines of JSON.
#include <sstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {
namespace {

using nlohmann::json;

std::string post(Cluster& cluster, const std::string& path, const json& body) {
  const auto reply = cluster.client().post(path, body.dump());
  if (!reply || reply->status != 200) throw std::runtime_error(reply ? reply->body : reply.error().message);
  return reply->body;
}

TEST(Ollama, SaysTheSameWordsInItsOwnForm) {
  Cluster cluster(tiny_model());
  cluster.start_router({"--ollama"});
  cluster.start_verifier();
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  const json messages = {{{"role", "user"}, {"content", "hello"}}};
  const json openai = json::parse(
      post(cluster, "/v1/chat/completions", {{"messages", messages}, {"max_tokens", 40}, {"temperature", 1}, {"seed", 3}}));
  const json fields = {{"model", cluster.model_name()},
                       {"messages", messages},
                       {"options", {{"num_predict", 40}, {"temperature", 1}, {"seed", 3}}}};
  std::istringstream lines(post(cluster, "/api/chat", fields));
  std::string text, line;
  json last;
  while (std::getline(lines, line)) {
    last = json::parse(line);
    text += last["message"]["content"];
  }
  EXPECT_EQ(text, openai["choices"][0]["message"]["content"]);
  EXPECT_EQ(last["done"], true);
  EXPECT_EQ(last["eval_count"], openai["usage"]["completion_tokens"]);
  EXPECT_EQ(last["prompt_eval_count"], openai["usage"]["prompt_tokens"]);

  const json generated = json::parse(post(cluster, "/api/generate",
                                          {{"model", cluster.model_name() + ":latest"},
                                           {"prompt", "hello"},
                                           {"stream", false},
                                           {"options", {{"num_predict", 40}, {"temperature", 1}, {"seed", 3}}}}));
  EXPECT_EQ(generated["response"], text);
  const auto tags = cluster.client().get("/api/tags");
  ASSERT_TRUE(tags);
  EXPECT_EQ(json::parse(tags->body)["models"][0]["name"], cluster.model_name());
}

}  // namespace
}  // namespace slipstream::e2e
