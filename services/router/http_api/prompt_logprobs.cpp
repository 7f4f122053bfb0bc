#include "services/router/http_api/prompt_logprobs.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/text/utf8.h"

namespace slipstream {

using Json = nlohmann::ordered_json;

void PromptLogprobs::add(std::span<const TokenLogprob> logprobs, const Tokenizer& tokenizer) {
  const auto told = [&](TokenId id, float logprob) {
    return LogprobFacts::Token{std::string(tokenizer.piece(id).value_or("")), logprob, id};
  };
  for (const TokenLogprob& each : logprobs) {
    if (complete()) return;
    LogprobFacts& facts = scored_.emplace_back(LogprobFacts{.token = told(prompt_[scored_.size() + 1], each.logprob)});
    facts.rank = each.rank;
    for (const Logprob& other : each.top) facts.top.push_back(told(other.id, other.logprob));
  }
}

std::vector<LogprobFacts> PromptLogprobs::facts(int32_t shown, const Tokenizer& tokenizer) const {
  std::vector<LogprobFacts> all;
  if (prompt_.empty()) return all;
  all.push_back({.token = {std::string(tokenizer.piece(prompt_.front()).value_or("")), 0, prompt_.front()}});
  all.insert(all.end(), scored_.begin(), scored_.end());
  int32_t characters = 0;
  for (LogprobFacts& each : all) {
    each.offset = characters;
    characters += characters_of(each.token.bytes);
  }
  const int32_t not_shown = std::max(0, characters - shown);
  for (LogprobFacts& each : all) each.offset = std::max(0, each.offset - not_shown);
  return all;
}

namespace {

// vLLM's `rank` counts from 1. It is null where a verifier of an older release did not tell it.
Json entry(const LogprobFacts::Token& token, size_t rank) {
  return {
      {"logprob", token.logprob}, {"rank", rank == 0 ? Json(nullptr) : Json(rank)}, {"decoded_token", lossy_utf8(token.bytes)}};
}

}  // namespace

Json prompt_logprobs_json(std::span<const LogprobFacts> prompt) {
  Json list = Json::array();
  for (const LogprobFacts& each : prompt) {
    if (list.empty()) {
      list.push_back(nullptr);
      continue;
    }
    Json tokens = Json::object();
    for (size_t place = 0; place < each.top.size(); ++place) {
      tokens[fmt::to_string(each.top[place].id)] = entry(each.top[place], place + 1);
    }
    tokens.emplace(fmt::to_string(each.token.id), entry(each.token, static_cast<size_t>(each.rank)));
    list.push_back(std::move(tokens));
  }
  return list;
}

}  // namespace slipstream
