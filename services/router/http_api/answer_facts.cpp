#include "services/router/http_api/answer_facts.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "common/messages/rules.h"
#include "common/text/utf8.h"

namespace slipstream {

using Json = nlohmann::ordered_json;

namespace {

// Draft nodes that a step verified, without those that came too late or for another base.
uint32_t verified(const SpeculationReport& report) { return report.accepted + report.rejected + report.unreached; }

}  // namespace

Json usage_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens}};
}

// OpenAI's fields for predicted text tell how many drafted tokens are part of the answer and how
// many are not. Accepted tokens behind a stop string are not part of the answer.
Json usage_json(const Totals& totals) {
  Json json = usage_json(totals.usage);
  const uint32_t drafted = verified(totals.report);
  json["completion_tokens_details"] = {
      {"reasoning_tokens", totals.usage.reasoning_tokens},
      {"accepted_prediction_tokens", totals.usage.guessed_tokens},
      {"rejected_prediction_tokens", drafted - std::min(totals.usage.guessed_tokens, drafted)}};
  json["prompt_tokens_details"] = {{"cached_tokens", totals.cached_tokens()}};
  return json;
}

// The field names are vLLM's, which NVIDIA's aiperf reads. Steps without a draft count, too. As
// aiperf demands, the histogram has num_spec_tokens + 1 entries.
Json metrics_json(const Totals& totals, uint16_t draft_nodes_max) {
  const auto ratio = [](uint32_t a, uint32_t b) { return b == 0 ? 0.0 : static_cast<double>(a) / b; };
  const SpeculationReport& report = totals.report;
  const AcceptanceHistogram& histogram = totals.histogram;
  Json by_length = Json::object();
  for (int length = 0; length <= histogram.longest(); ++length) {
    const auto steps = histogram.of_length(length);
    if (std::ranges::any_of(steps, [](uint32_t count) { return count > 0; })) by_length[fmt::to_string(length)] = steps;
  }
  std::vector<uint32_t> of_all = histogram.of_all();
  const int spec_tokens = std::max<int>(draft_nodes_max, histogram.longest());
  of_all.resize(static_cast<size_t>(spec_tokens) + 1);
  return {{"speculative_decoding",
           {{"mean_acceptance_length", 1.0 + ratio(report.accepted, report.steps)},
            {"draft_acceptance_rate", ratio(report.accepted, verified(report))},
            {"acceptance_histogram", std::move(of_all)},
            {"acceptance_histogram_by_draft_length", std::move(by_length)},
            {"num_spec_steps", report.steps},
            {"num_accepted_draft_tokens", report.accepted},
            {"num_draft_tokens", verified(report)},
            {"num_spec_tokens", spec_tokens}}}};
}

Json tokens_json(const TokenFacts& tokens) {
  Json json{{"token_ids", tokens.ids}, {"drafted", tokens.drafted}, {"depths", tokens.depths}, {"pieces", tokens.pieces}};
  if (!tokens.ranks.empty()) json["ranks"] = tokens.ranks;
  return json;
}

// A token's text may be part of a character, so its bytes are told, too.
Json logprob_json(const LogprobFacts::Token& token) {
  const auto bytes = std::span(reinterpret_cast<const uint8_t*>(token.bytes.data()), token.bytes.size());
  return {{"token", lossy_utf8(token.bytes)}, {"logprob", token.logprob}, {"bytes", bytes}};
}

namespace {

// Tells why no drafter drafted, too. A rule with a declared bias also tells the total variation
// that it spent. At temperature 0 coupled is called greedy.
Json rule_json(const AnswerHead& head, const Choice& choice) {
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

}  // namespace

Json speculation_json(const AnswerHead& head, const Choice& choice) {
  Json json = rule_json(head, choice);
  const Delivery& delivery = choice.newest();
  if (delivery.report.near_ties > 0) json["near_ties"] = delivery.report.near_ties;
  if (delivery.may_differ) json["may_differ"] = true;
  return json;
}

Json slipstream_json(const AnswerHead& head) {
  Json json{{"seed", head.seed}};
  if (!head.warnings.empty()) json["warnings"] = head.warnings;
  return json;
}

}  // namespace slipstream
