#include "tests/e2e/triples.h"

#include <simdjson.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>

namespace slipstream::e2e {
namespace {

constexpr int kConnections = 32;
constexpr int kAnswerTokens = 6;  // so that drafts reach the third: an answer's last token is not worth one

std::string ask(http::Client& client, uint64_t seed, const nlohmann::json& besides) {
  nlohmann::json request{{"messages", {{{"role", "user"}, {"content", kTripleWords}}}},
                         {"max_tokens", kAnswerTokens},
                         {"temperature", 1.0},
                         {"seed", seed},
                         {"ignore_eos", true},
                         {"slipstream", {{"tokens", true}}}};
  request.update(besides);
  const auto reply = client.post("/v1/chat/completions", request.dump());
  if (!reply || reply->status != 200) throw std::runtime_error(reply ? reply->body : reply.error().message);
  return reply->body;
}

}  // namespace

Triple triple_in(const std::string& reply) {
  simdjson::dom::parser parser;
  const simdjson::padded_string body(reply);
  Triple triple{};
  size_t at = 0;
  for (int64_t id : parser.parse(body)["slipstream"]["token_ids"].get_array()) {
    if (at < triple.size()) triple[at++] = static_cast<TokenId>(id);
  }
  if (at != triple.size()) throw std::runtime_error("three tokens were asked for at least: " + reply);
  return triple;
}

bool went_two_deep(const std::string& reply) {
  simdjson::dom::parser parser;
  const simdjson::padded_string body(reply);
  const auto guessed = parser.parse(body)["slipstream"]["drafted"];
  return guessed.at(1).get_int64().value() == 1 && guessed.at(2).get_int64().value() == 1;
}

std::vector<Triple> draw_triples(Cluster& cluster, size_t count) {
  return draw_triples(cluster, count, nlohmann::json::object());
}

std::vector<Triple> draw_triples(Cluster& cluster, size_t count, const nlohmann::json& request) {
  std::vector<Triple> triples(count);
  ask_seeds(cluster, count, request, [&](size_t seed, const std::string& reply) { triples[seed] = triple_in(reply); });
  return triples;
}

void ask_seeds(Cluster& cluster, size_t count, const nlohmann::json& request,
               const std::function<void(size_t seed, const std::string& reply)>& take) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::string error;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kConnections; ++i) {
      threads.emplace_back([&] {
        http::Client client = cluster.client();
        try {
          for (size_t seed = next++; seed < count; seed = next++) {
            const std::string reply = ask(client, seed, request);
            std::lock_guard lock(mutex);
            take(seed, reply);
          }
        } catch (const std::exception& exception) {
          std::lock_guard lock(mutex);
          error = exception.what();
        }
      });
    }
  }
  if (!error.empty()) throw std::runtime_error(error);
}

}  // namespace slipstream::e2e
