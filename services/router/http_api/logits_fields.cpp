#include "services/router/http_api/logits_fields.h"

#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>

#include "common/base/limits.h"
#include "common/sampling/logits_processor.h"

namespace slipstream {
namespace {

using simdjson::dom::element;
using Checked = ApiResult<void>;

Checked read_penalties(const RequestFields& fields, float repetition_default, LogitsParams& how) {
  TRY(const auto repetition, fields.number("repetition_penalty", static_cast<double>(kRepetitionPenaltyMin),
                                           static_cast<double>(kRepetitionPenaltyMax)));
  TRY(const auto presence,
      fields.number("presence_penalty", -static_cast<double>(kPenaltyMax), static_cast<double>(kPenaltyMax)));
  TRY(const auto frequency,
      fields.number("frequency_penalty", -static_cast<double>(kPenaltyMax), static_cast<double>(kPenaltyMax)));
  how.repetition_penalty = repetition ? static_cast<float>(*repetition) : repetition_default;
  how.presence_penalty = static_cast<float>(presence.value_or(0.0));
  how.frequency_penalty = static_cast<float>(frequency.value_or(0.0));
  TRY(const auto least, fields.integer("min_tokens", 0, kContextTokensMax));
  how.min_tokens = static_cast<int32_t>(least.value_or(0));
  return {};
}

// The form is OpenAI's: {"<token id>": <bias>, ...}.
Checked read_bias(const RequestFields& fields, LogitsParams& how) {
  TRY(const auto biases, fields.object("logit_bias"));
  if (!biases) return {};
  if (biases->object().size() > kLogitBiasMax) {
    return std::unexpected(too_many("logit_bias", "tokens", biases->object().size(), kLogitBiasMax));
  }
  for (const auto& field : biases->object()) {
    TokenId id = -1;
    const auto end = field.key.data() + field.key.size();
    const auto [at, error] = std::from_chars(field.key.data(), end, id);
    if (error != std::errc() || at != end || id < 0) {
      return std::unexpected(bad_field(
          "logit_bias", fmt::format("`logit_bias` has the key \"{}\": its keys are token ids, such as \"42\".", field.key)));
    }
    TRY(const auto bias, biases->number(field.key, -static_cast<double>(kLogitBiasMost), static_cast<double>(kLogitBiasMost)));
    how.bias.push_back({id, static_cast<float>(bias.value_or(0.0))});
  }
  std::ranges::sort(how.bias, {}, &LogitBias::id);
  const auto twice = std::ranges::adjacent_find(how.bias, {}, &LogitBias::id);
  if (twice == how.bias.end()) return {};
  return std::unexpected(bad_field("logit_bias", fmt::format("`logit_bias` names token {} twice.", twice->id)));
}

Checked read_allowed(const RequestFields& fields, LogitsParams& how) {
  const auto found = fields.find("allowed_token_ids");
  if (!found) return {};
  simdjson::dom::array list;
  if (found->get(list) != simdjson::SUCCESS || list.size() == 0) {
    return std::unexpected(bad_field("allowed_token_ids", "`allowed_token_ids` must be a list of at least one token id."));
  }
  if (list.size() > kAllowedTokensMax) {
    return std::unexpected(too_many("allowed_token_ids", "token ids", list.size(), kAllowedTokensMax));
  }
  TRY(how.allowed, read_token_ids(list, "allowed_token_ids"));
  std::ranges::sort(how.allowed);
  const auto doubles = std::ranges::unique(how.allowed);
  how.allowed.erase(doubles.begin(), doubles.end());
  return {};
}

// Adds the word as it is written and as it follows a space: tokenizers give the two different
// tokens.
Checked add_bad_word(const std::string& word, const Tokenizer& tokenizer, LogitsParams& how) {
  const auto too_long = [](size_t tokens) {
    return std::unexpected(bad_field(
        "bad_words", fmt::format("`bad_words` holds a string that is {} tokens, alone or behind a space; the limit is {}.",
                                 tokens, kBadWordTokensMax)));
  };
  const size_t least = tokenizer.tokens_at_least(word.size());
  if (least > kBadWordTokensMax) return too_long(least);  // before tokenising takes time
  for (const std::string& written : {word, " " + word}) {
    auto ids = tokenizer.encode_inside(written);
    if (!ids) return std::unexpected(bad_field("bad_words", fmt::format("`bad_words`: {}", ids.error().message)));
    if (ids->size() > kBadWordTokensMax) return too_long(ids->size());
    if (!ids->empty()) how.bad_words.push_back(*std::move(ids));
  }
  return {};
}

}  // namespace

ApiResult<void> read_logits_params(const RequestFields& fields, float repetition_default, LogitsParams& how) {
  TRY_VOID(read_penalties(fields, repetition_default, how));
  TRY_VOID(read_bias(fields, how));
  return read_allowed(fields, how);
}

ApiResult<std::vector<std::string>> read_bad_words(const RequestFields& fields) {
  std::vector<std::string> words;
  const auto found = fields.find("bad_words");
  if (!found) return words;
  simdjson::dom::array list;
  if (found->get(list) != simdjson::SUCCESS) {
    return std::unexpected(bad_field("bad_words", "`bad_words` must be a list of strings."));
  }
  if (list.size() > kBadWordsMax) return std::unexpected(too_many("bad_words", "strings", list.size(), kBadWordsMax));
  for (element one : list) {
    std::string_view word;
    if (one.get(word) != simdjson::SUCCESS || word.empty()) {
      return std::unexpected(bad_field("bad_words", "`bad_words` must hold strings only, none of them empty."));
    }
    words.emplace_back(word);
  }
  return words;
}

ApiResult<void> fit_adjustments(GenerationSpec& spec, std::span<const std::string> bad_words, const Tokenizer& tokenizer,
                                int32_t vocabulary, const GrammarStart& grammar) {
  LogitsParams& how = spec.logits_params;
  const auto unknown = [&](const char* field, TokenId id) {
    return std::unexpected(
        bad_field(field, fmt::format("`{}` names token {}; this model's tokens are 0 to {}.", field, id, vocabulary - 1)));
  };
  if (!how.bias.empty() && how.bias.back().id >= vocabulary) return unknown("logit_bias", how.bias.back().id);
  if (!how.allowed.empty() && how.allowed.back() >= vocabulary) return unknown("allowed_token_ids", how.allowed.back());
  if (!spec.stop_ids.empty() && spec.stop_ids.back() >= vocabulary) return unknown("stop_token_ids", spec.stop_ids.back());
  for (const std::string& word : bad_words) TRY_VOID(add_bad_word(word, tokenizer, how));
  if (how.min_tokens > 0) how.stop_ids = spec.stop_ids;
  std::vector<std::string_view> masks = how.masks();
  if (masks.empty() || LogitsProcessor(how).leaves_a_token(vocabulary, grammar.mask)) return {};
  if (grammar.mask != nullptr) masks.push_back(grammar.field);
  return std::unexpected(
      bad_field(std::string(masks.front()), fmt::format("no token is left to begin the answer with: `{}` forbid{} every one.",
                                                        fmt::join(masks, "` and `"), masks.size() == 1 ? "s" : "")));
}

}  // namespace slipstream
