#include "services/router/http_api/completion_json.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/messages/rules.h"
#include "common/text/utf8.h"
#include "services/router/http_api/choice.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json root(const CompletionHead& head, uint64_t backend, const char* object) {
  return {{"id", head.id},
          {"object", object},
          {"created", head.created},
          {"model", head.model},
          {"system_fingerprint", fmt::format("fp_{:016x}", backend)}};
}

Json usage_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens}};
}

// Draft nodes that a step verified, without those that came too late or for another base.
uint32_t verified(const SpeculationReport& report) { return report.accepted + report.rejected + report.unreached; }

// OpenAI's fields for predicted text tell how many drafted tokens are part of the answer and how
// many are not. Accepted tokens behind a stop string are not part of the answer.
Json usage_json(const Usage& usage, const SpeculationReport& report) {
  Json json = usage_json(usage);
  json["completion_tokens_details"] = {
      {"accepted_prediction_tokens", usage.guessed_tokens},
      {"rejected_prediction_tokens", verified(report) - std::min(usage.guessed_tokens, verified(report))}};
  json["prompt_tokens_details"] = {
      {"cached_tokens", std::min(report.cached_tokens, static_cast<uint32_t>(usage.prompt_tokens))}};
  return json;
}

// The field names are vLLM's, which NVIDIA's aiperf reads. Steps without a draft count, too.
Json metrics_json(const SpeculationReport& report, const AcceptanceHistogram& histogram, uint16_t draft_nodes_max) {
  const auto ratio = [](uint32_t a, uint32_t b) { return b == 0 ? 0.0 : static_cast<double>(a) / b; };
  Json by_length = Json::object();
  for (int length = 0; length <= histogram.longest(); ++length) {
    const auto steps = histogram.of_length(length);
    if (std::ranges::any_of(steps, [](uint32_t count) { return count > 0; })) by_length[fmt::to_string(length)] = steps;
  }
  return {{"speculative_decoding",
           {{"mean_acceptance_length", 1.0 + ratio(report.accepted, report.steps)},
            {"draft_acceptance_rate", ratio(report.accepted, verified(report))},
            {"acceptance_histogram", histogram.of_all()},
            {"acceptance_histogram_by_draft_length", std::move(by_length)},
            {"num_spec_steps", report.steps},
            {"num_accepted_draft_tokens", report.accepted},
            {"num_draft_tokens", verified(report)},
            {"num_spec_tokens", draft_nodes_max}}}};
}

// Tells which rule ran and why it was not the one asked for, or why no drafter drafted. A rule with
// a declared bias also tells the total variation that it spent. At temperature 0 coupled is called
// greedy.
Json speculation_json(const CompletionHead& head, const Choice& choice) {
  if (!head.speculates) return {{"rule", "off"}};
  const Delivery& delivery = choice.newest();
  const SpeculationReport& report = delivery.report;
  const RuleReason reason = delivery.rule.reason;
  const bool sampled = is_sampled(delivery.asked.rule);
  Json json{{"rule", name_of(delivery.rule.ran)}};
  if (sampled && reason != RuleReason::as_asked) json["asked"] = name_of(delivery.asked);
  if (reason != RuleReason::as_asked && (sampled || reason != RuleReason::temperature_zero)) json["reason"] = name_of(reason);
  if (!is_biased(delivery.rule.ran.rule)) return json;
  json["bias_spent"] = report.spent;
  json["bias_spent_per_token"] = choice.tokens() == 0 ? 0.0F : report.spent / static_cast<float>(choice.tokens());
  return json;
}

Json tokens_json(const TokenFacts& tokens) {
  return {{"token_ids", tokens.ids}, {"drafted", tokens.drafted}, {"depths", tokens.depths}, {"pieces", tokens.pieces}};
}

// A token's text may be part of a character, so its bytes are told, too.
Json logprob_json(const LogprobFacts::Token& token) {
  const auto bytes = std::span(reinterpret_cast<const uint8_t*>(token.bytes.data()), token.bytes.size());
  return {{"token", lossy_utf8(token.bytes)}, {"logprob", token.logprob}, {"bytes", bytes}};
}

Json chat_logprobs_json(const std::vector<LogprobFacts>* logprobs) {
  if (logprobs == nullptr) return nullptr;
  Json content = Json::array();
  for (const LogprobFacts& each : *logprobs) {
    Json entry = logprob_json(each.token);
    entry["top_logprobs"] = Json::array();
    for (const LogprobFacts::Token& other : each.top) entry["top_logprobs"].push_back(logprob_json(other));
    content.push_back(std::move(entry));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

// The form of the older API: parallel lists. The token itself is among its alternatives.
Json text_logprobs_json(const std::vector<LogprobFacts>* logprobs) {
  if (logprobs == nullptr) return nullptr;
  Json tokens = Json::array(), values = Json::array(), tops = Json::array(), offsets = Json::array();
  for (const LogprobFacts& each : *logprobs) {
    const std::string token = lossy_utf8(each.token.bytes);
    Json top = Json::object();
    for (const LogprobFacts::Token& other : each.top) top.emplace(lossy_utf8(other.bytes), other.logprob);
    top.emplace(token, each.token.logprob);
    tokens.push_back(token);
    values.push_back(each.token.logprob);
    tops.push_back(std::move(top));
    offsets.push_back(each.offset);
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(values)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

Json logprobs_json(ApiKind kind, const std::vector<LogprobFacts>* logprobs) {
  return kind == ApiKind::chat ? chat_logprobs_json(logprobs) : text_logprobs_json(logprobs);
}

// The calls of tools that a choice tells now. Their ids name the answer, the choice and the call.
Json calls_json(const CompletionHead& head, const Choice& choice, int index) {
  Json calls = Json::array();
  int number = choice.calls_before();
  for (const ToolCall& call : choice.calls()) {
    calls.push_back({{"index", number},
                     {"id", fmt::format("call_{}_{}_{}", head.id.substr(head.id.find('-') + 1), index, number)},
                     {"type", "function"},
                     {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
    ++number;
  }
  return calls;
}

// A chunk of a stream. delta: what a chat adds; text: what a completion adds.
Json chunk(const CompletionHead& head, const Choice& choice, int index, Json delta, std::string_view text) {
  const bool chat = head.kind == ApiKind::chat;
  Json json = root(head, choice.newest().backend, chat ? "chat.completion.chunk" : "text_completion");
  Json part{{"index", index}};
  if (chat) {
    part["delta"] = std::move(delta);
  } else {
    part["text"] = text;
  }
  part["logprobs"] = nullptr;
  part["finish_reason"] = nullptr;
  json["choices"] = Json::array({std::move(part)});
  return json;
}

std::string dump(Json json, const CompletionJson::ChunkUsage& usage) {
  if (usage.field == CompletionJson::UsageField::null) json["usage"] = nullptr;
  if (usage.field == CompletionJson::UsageField::given) json["usage"] = usage_json(usage.usage);
  return dump(json);
}

}  // namespace

void Totals::add(const Delivery& newest, bool computed_its_prompt) {
  const SpeculationReport& one = newest.report;
  report.steps += one.steps;
  report.accepted += one.accepted;
  report.rejected += one.rejected;
  report.unreached += one.unreached;
  if (computed_its_prompt) report.cached_tokens += one.cached_tokens;
  histogram.add(newest.histogram);
}

std::string CompletionJson::role(int index, const Choice& choice, const ChunkUsage& usage) const {
  return dump(chunk(head_, choice, index, {{"role", "assistant"}, {"content", ""}}, ""), usage);
}

std::string CompletionJson::text(int index, const Choice& choice, const ChunkUsage& usage) const {
  Json delta = Json::object();
  if (!choice.text().empty() || choice.calls().empty()) delta["content"] = choice.text();
  if (!choice.calls().empty()) delta["tool_calls"] = calls_json(head_, choice, index);
  Json json = chunk(head_, choice, index, std::move(delta), choice.text());
  const Facts facts = choice.facts();
  json["choices"][0]["logprobs"] = logprobs_json(head_.kind, facts.logprobs);
  if (facts.tokens != nullptr) {
    const Delivery& newest = choice.newest();
    json["slipstream"] = tokens_json(*facts.tokens);
    if (is_biased(newest.rule.ran.rule)) json["slipstream"]["bias_spent"] = newest.report.spent;  // so far
  }
  return dump(std::move(json), usage);
}

std::string CompletionJson::finish(int index, const Choice& choice, const ChunkUsage& usage, bool tell_speculation) const {
  Json json = chunk(head_, choice, index, Json::object(), "");
  json["choices"][0]["finish_reason"] = choice.reason();
  json["slipstream"] = {{"seed", head_.seed}};
  if (!head_.warnings.empty()) json["slipstream"]["warnings"] = head_.warnings;
  if (tell_speculation) json["slipstream"]["speculation"] = speculation_json(head_, choice);
  return dump(std::move(json), usage);
}

std::string CompletionJson::usage(const Choice& last, const Totals& totals) const {
  const bool chat = head_.kind == ApiKind::chat;
  Json json = root(head_, last.newest().backend, chat ? "chat.completion.chunk" : "text_completion");
  json["choices"] = Json::array();
  json["usage"] = usage_json(totals.usage, totals.report);
  json["metrics"] = metrics_json(totals.report, totals.histogram, draft_nodes_max_);
  json["slipstream"] = {{"seed", head_.seed}, {"speculation", speculation_json(head_, last)}};
  return dump(json);
}

// Of one choice, what Slipstream tells is beside `choices`; of several, each has its own.
std::string CompletionJson::whole(std::span<const Choice* const> choices, const Totals& totals) const {
  const bool chat = head_.kind == ApiKind::chat;
  Json json = root(head_, choices.front()->newest().backend, chat ? "chat.completion" : "text_completion");
  json["choices"] = Json::array();
  Json told = Json::object();
  for (const Choice* choice : choices) {
    const Facts facts = choice->facts();
    Json part{{"index", json["choices"].size()}};
    if (chat) {
      Json content = choice->calls().empty() || !choice->text().empty() ? Json(choice->text()) : Json(nullptr);
      part["message"] = {{"role", "assistant"}, {"content", std::move(content)}, {"refusal", nullptr}};
      if (!choice->calls().empty()) {
        Json calls = calls_json(head_, *choice, static_cast<int>(json["choices"].size()));
        for (Json& call : calls) call.erase("index");  // chunks have it
        part["message"]["tool_calls"] = std::move(calls);
      }
    } else {
      part["text"] = choice->text();
    }
    part["logprobs"] = logprobs_json(head_.kind, facts.logprobs);
    part["finish_reason"] = choice->reason();
    Json own = facts.tokens != nullptr ? tokens_json(*facts.tokens) : Json::object();
    own["speculation"] = speculation_json(head_, *choice);
    (choices.size() == 1 ? told : part["slipstream"]) = std::move(own);
    json["choices"].push_back(std::move(part));
  }
  json["usage"] = usage_json(totals.usage, totals.report);
  json["metrics"] = metrics_json(totals.report, totals.histogram, draft_nodes_max_);
  json["slipstream"] = std::move(told);
  json["slipstream"]["seed"] = head_.seed;
  if (!head_.warnings.empty()) json["slipstream"]["warnings"] = head_.warnings;
  return dump(json);
}

}  // namespace slipstream
