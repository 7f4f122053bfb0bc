#include "tools/slipstream/load/request_mix.h"

#include <simdjson.h>

#include <array>
#include <random>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "common/base/check.h"

namespace slipstream::command::load {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kReserved{"stream", "stream_options", "messages", "n", "max_tokens"};

// Words of common English, so that a shared prefix has about as many tokens as words.
constexpr std::array<std::string_view, 48> kWords{
    "the",   "house", "river", "stands", "near",  "a",      "small", "town",  "where",   "people", "work",  "and",
    "read",  "old",   "books", "in",     "long",  "winter", "while", "their", "garden",  "waits",  "for",   "spring",
    "every", "train", "that",  "comes",  "from",  "north",  "takes", "some",  "letters", "with",   "it",    "over",
    "green", "hills", "to",    "cities", "which", "never",  "sleep", "until", "morning", "light",  "finds", "them"};

// Sets that are drawn by an engine's own bits are the same on every machine.
size_t below(std::mt19937_64& random, size_t bound) { return static_cast<size_t>(random() % bound); }

}  // namespace

Result<void> check_more_fields(const std::string& more) {
  if (more.empty()) return {};
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(more);
  simdjson::dom::object object;
  if (parser.parse(padded).get(object) != simdjson::SUCCESS) {
    return fail("--fields {} is no JSON object; write it as '{{\"ignore_eos\": true}}'", more);
  }
  for (const char* field : kReserved) {
    simdjson::dom::element there;
    if (object[field].get(there) == simdjson::SUCCESS) {
      return fail(
          "--fields cannot set \"{}\", which has a flag of its own or which the measurement needs as it is; leave it out",
          field);
    }
  }
  return {};
}

std::string shared_prefix(int words, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text;
  for (int i = 0; i < words; ++i) {
    if (i > 0) text += i % 12 == 0 ? ". " : " ";
    text += kWords[below(random, kWords.size())];
  }
  return text.empty() ? text : text + ".";
}

RequestMix::RequestMix(std::vector<AskedPrompt> prompts, RequestFields fields, PromptOrder order)
    : prompts_(std::move(prompts)), fields_(std::move(fields)) {
  CHECK(!prompts_.empty(), "a mix needs a prompt");
  if (order == PromptOrder::as_given) return;
  std::mt19937_64 random(fields_.seed);
  for (size_t left = prompts_.size(); left > 1; --left) std::swap(prompts_[left - 1], prompts_[below(random, left)]);
}

int RequestMix::max_tokens(size_t number) const {
  const int own = prompts_[number % prompts_.size()].max_tokens;
  return own > 0 ? own : fields_.max_tokens;
}

std::string RequestMix::body(size_t number) const {
  const AskedPrompt& prompt = prompts_[number % prompts_.size()];
  Json messages =
      prompt.messages.empty() ? Json::array({{{"role", "user"}, {"content", prompt.text}}}) : Json::parse(prompt.messages);
  if (!fields_.system.empty()) messages.insert(messages.begin(), Json{{"role", "system"}, {"content", fields_.system}});
  Json request{{"model", fields_.model},
               {"messages", std::move(messages)},
               {"max_tokens", max_tokens(number)},
               {"temperature", fields_.temperature},
               {"seed", static_cast<int64_t>(fields_.seed + number)},
               {"stream", true},
               {"stream_options", {{"include_usage", true}}}};
  if (fields_.token_ids) request["slipstream"] = {{"tokens", true}};
  if (!fields_.more.empty()) request.update(Json::parse(fields_.more));
  return request.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace slipstream::command::load
