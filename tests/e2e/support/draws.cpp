#include "tests/e2e/support/draws.h"

#include <simdjson.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace slipstream::e2e {
namespace {

constexpr int kConnections = 32;
constexpr int kAnswerTokens = 6;  // so that drafts reach the third token: the last one of an answer is not drafted

std::string ask(http::Client& client, uint64_t seed, const nlohmann::json& besides) {
  nlohmann::json request{{"messages", {{{"role", "user"}, {"content", kSampledWords}}}},
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

Draw draw_in(const std::string& reply, size_t length) {
  simdjson::dom::parser parser;
  const simdjson::padded_string body(reply);
  Draw draw;
  for (int64_t id : parser.parse(body)["slipstream"]["token_ids"].get_array()) {
    if (draw.size() < length) draw.push_back(static_cast<TokenId>(id));
  }
  if (draw.size() != length) throw std::runtime_error(fmt::format("{} tokens were asked for at least: {}", length, reply));
  return draw;
}

bool went_two_deep(const std::string& reply, size_t length) {
  simdjson::dom::parser parser;
  const simdjson::padded_string body(reply);
  size_t position = 0;
  int64_t run = 0;  // guessed tokens, the last one at `position`
  for (int64_t guessed : parser.parse(body)["slipstream"]["drafted"].get_array()) {
    run = guessed == 1 ? run + 1 : 0;
    if (run == 2) return true;
    if (++position == length) return false;
  }
  return false;
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
