#include "services/verifier/admission.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/kv/block_pool.h"

namespace slipstream {

int32_t context_that_fits(int32_t context_max, int32_t cache_blocks) {
  return std::clamp(cache_blocks * kBlockTokens - kTreeNodesMax - 1, 0, context_max);
}

int32_t sequences_that_fit(int32_t of_device, int32_t cache_blocks) {
  const int64_t roomy = int64_t{cache_blocks} * kBlockTokens / kSequenceTokens;
  return static_cast<int32_t>(std::clamp<int64_t>(roomy, std::min(kCpuSequences, of_device), of_device));
}

std::optional<NotAdmitted> why_not(const Start& start, const VerifierConfig& config) {
  const auto never = [](std::string reason) { return NotAdmitted{.reason = std::move(reason), .retry = false}; };
  const GenerationSpec& spec = start.spec;
  const auto length = static_cast<int32_t>(start.tokens.size());
  const auto known = [&](TokenId token) { return token >= 0 && token < config.fingerprint.vocabulary; };
  if (spec.prompt_length < 1 || spec.prompt_length > length) return never("the prompt is empty or longer than the tokens sent");
  if (!std::ranges::all_of(start.tokens, known)) return never("a token id lies outside the model's vocabulary");
  if (spec.output_max < 1 || length - spec.prompt_length >= spec.output_max) return never("nothing is left to generate");
  const int32_t context = context_that_fits(config.context_max, config.cache_blocks);
  if (spec.output_max > context - spec.prompt_length) {
    return never(fmt::format("prompt and output together exceed the context of {} tokens", context));
  }
  if (spec.prompt_logprobs_of(spec.prompt_length) > kPromptLogprobsMax) {
    return never(fmt::format("the prompt has more logprobs than {}, the limit", kPromptLogprobsMax));
  }
  const LogitsParams& how = spec.logits_params;
  if (!std::ranges::all_of(how.bias, known, &LogitBias::id) || !std::ranges::all_of(how.allowed, known)) {
    return never("logit_bias or allowed_token_ids names a token outside the model's vocabulary");
  }
  if ((spec.sampling.temperature == 0) != (spec.acceptance.rule == Rule::greedy)) {
    return never("the greedy rule goes with temperature 0, all others with any other");
  }
  if (!spec.grammar.empty() && is_biased(spec.acceptance.rule)) {
    return never("a rule with a declared bias may accept tokens that a grammar forbids");
  }
  return std::nullopt;
}

}  // namespace slipstream
