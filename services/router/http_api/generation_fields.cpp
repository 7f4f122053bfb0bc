#include "services/router/http_api/generation_fields.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "services/router/http_api/grammar_fields.h"
#include "services/router/http_api/logits_fields.h"
#include "services/router/http_api/priority_fields.h"
#include "services/router/http_api/speculation_fields.h"

namespace slipstream {
namespace {

using simdjson::dom::element;
using Checked = ApiResult<void>;

// Fields of OpenAI's, vLLM's or llama.cpp's API that this server does not support and that change
// what an answer is. A request may carry one only with the value that means the usual behaviour.
constexpr std::array<std::string_view, 20> kUnbuilt{"add_special_tokens",
                                                    "audio",
                                                    "chat_template",
                                                    "documents",
                                                    "function_call",
                                                    "functions",
                                                    "grammar",
                                                    "length_penalty",
                                                    "logits_processors",
                                                    "mm_processor_kwargs",
                                                    "modalities",
                                                    "prediction",
                                                    "return_token_ids",
                                                    "return_tokens_as_token_ids",
                                                    "spaces_between_special_tokens",
                                                    "suffix",
                                                    "truncate_prompt_tokens",
                                                    "typical_p",
                                                    "use_beam_search",
                                                    "web_search_options"};
// What to use in place of some of them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kInstead{
    {{"functions", R"(send them as `tools`: [{"type": "function", "function": {...}}].)"},
     {"function_call", R"(use `tool_choice`: {"type": "function", "function": {"name": "..."}}.)"},
     {"suffix", "no model here was trained to fill in the middle."}}};
// The unsupported field whose usual value is true.
constexpr std::string_view kOnAsUsual = "spaces_between_special_tokens";

// Whether an unsupported field has the value that means the usual behaviour.
bool asks_for_nothing(std::string_view name, element value) {
  simdjson::dom::array list;
  simdjson::dom::object object;
  std::string_view text;
  bool flag = false;
  double number = 0;
  if (value.is_null()) return true;
  if (value.get(flag) == simdjson::SUCCESS) return flag == (name == kOnAsUsual);
  if (value.get(number) == simdjson::SUCCESS) {
    const bool one = name == "length_penalty" || name == "typical_p";
    return number == (one ? 1 : 0);
  }
  if (value.get(text) == simdjson::SUCCESS) {
    // Without `functions` no function is called, whichever of the two it is.
    return text.empty() || (name == "function_call" && (text == "none" || text == "auto"));
  }
  if (value.get(object) == simdjson::SUCCESS) return object.size() == 0;
  if (value.get(list) != simdjson::SUCCESS) return false;
  if (name == "modalities") return list.size() == 1 && list.at(0).get(text) == simdjson::SUCCESS && text == "text";
  return list.size() == 0;
}

Checked refuse_unbuilt(const RequestFields& fields) {
  for (std::string_view name : kUnbuilt) {
    const auto value = fields.find(name);
    if (!value || asks_for_nothing(name, *value)) continue;
    const auto* known = std::ranges::find(kInstead, name, [](const auto& each) { return each.first; });
    return std::unexpected(unsupported(std::string(name), known == kInstead.end()
                                                              ? fmt::format("`{}` is not built yet: leave it out.", name)
                                                              : fmt::format("`{}` is not built: {}", name, known->second)));
  }
  return {};
}

// Between 0 and kTemperatureMin nothing is sharper than at the ends: clients that mean "the
// likeliest token" write 1e-8 there.
float nearest_temperature(double asked, GenerationRequest& request) {
  const auto temperature = static_cast<float>(asked);
  if (temperature <= 0 || temperature >= kTemperatureMin) return temperature;
  const float taken = temperature < kTemperatureMin / 2 ? 0.0F : kTemperatureMin;
  request.warnings.push_back(fmt::format("`temperature` {:.3g} was taken as {}.", asked, taken));
  return taken;
}

Checked read_sampling(const RequestFields& fields, const SamplingParams& defaults, GenerationRequest& request) {
  SamplingParams& sampling = request.spec.sampling = defaults;
  TRY(const auto temperature, fields.number("temperature", 0, static_cast<double>(kTemperatureMax)));
  if (temperature) sampling.temperature = nearest_temperature(*temperature, request);
  TRY(const auto top_p, fields.number("top_p", 0, 1));
  if (top_p) sampling.top_p = static_cast<float>(*top_p);
  if (sampling.top_p <= 0)
    return std::unexpected(
        bad_field("top_p", "`top_p` must be above 0, at most 1: 0 (and what is as good as 0) would keep no token."));
  TRY(const auto min_p, fields.number("min_p", 0, 1));
  if (min_p) sampling.min_p = static_cast<float>(*min_p);
  if (sampling.min_p >= 1) return std::unexpected(bad_field("min_p", "`min_p` must be below 1."));
  TRY(const auto top_k, fields.integer("top_k", -1, std::numeric_limits<int32_t>::max()));
  if (top_k) sampling.top_k = static_cast<int32_t>(std::max<int64_t>(*top_k, 0));  // vLLM writes "off" as -1
  TRY(request.seed, fields.integer("seed", std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
  return {};
}

Checked read_limits(const RequestFields& fields, GenerationRequest& request) {
  for (std::string_view name : {"max_tokens", "max_completion_tokens"}) {  // the newer name wins
    TRY(const auto most, fields.integer(name, request.output_least, kContextTokensMax));
    if (most) request.spec.output_max = static_cast<int32_t>(*most);
    if (most) request.scores_only = *most == 0;
  }
  const int32_t least = request.spec.logits_params.min_tokens, most = request.spec.output_max;
  if ((most > 0 || request.scores_only) && least > most) {
    return std::unexpected(
        bad_field("min_tokens", fmt::format("`min_tokens` is {}, more than `max_tokens`: {}.", least, most)));
  }
  TRY(const auto ignore_eos, fields.boolean("ignore_eos"));
  request.ignore_eos = ignore_eos.value_or(false);
  return {};
}

Checked read_stops(const RequestFields& fields, GenerationRequest& request) {
  const auto stop = fields.find("stop");
  if (!stop) return {};
  std::string_view text;
  simdjson::dom::array list;
  if (stop->get(text) == simdjson::SUCCESS) {
    request.stops.emplace_back(text);
  } else if (stop->get(list) == simdjson::SUCCESS) {
    for (element one : list) {
      if (one.get(text) != simdjson::SUCCESS) return std::unexpected(bad_field("stop", "`stop` must hold strings only."));
      request.stops.emplace_back(text);
    }
  } else {
    return std::unexpected(bad_field("stop", "`stop` must be a string or a list of strings."));
  }
  size_t bytes = 0;
  for (const std::string& one : request.stops) {
    if (one.empty()) return std::unexpected(bad_field("stop", "`stop` must not hold an empty string."));
    bytes += one.size();
    if (one.size() <= kStopStringBytesMax) continue;
    return std::unexpected(
        bad_field("stop", fmt::format("a string of `stop` has {} bytes, the limit is {}.", one.size(), kStopStringBytesMax)));
  }
  if (bytes <= kStopBytesMax) return {};
  return std::unexpected(
      bad_field("stop", fmt::format("`stop` has {} bytes together, the limit is {}.", bytes, kStopBytesMax)));
}

Checked read_stop_ids(const RequestFields& fields, GenerationRequest& request) {
  const auto given = fields.find("stop_token_ids");
  if (!given) return {};
  simdjson::dom::array list;
  if (given->get(list) != simdjson::SUCCESS || list.size() > kStopIdsAskedMax) {
    return std::unexpected(
        bad_field("stop_token_ids", fmt::format("`stop_token_ids` must be a list of at most {} token ids.", kStopIdsAskedMax)));
  }
  TRY(request.spec.stop_ids, read_token_ids(list, "stop_token_ids"));
  return {};
}

Checked read_stream(const RequestFields& fields, GenerationRequest& request) {
  TRY(const auto stream, fields.boolean("stream"));
  request.stream = stream.value_or(false);
  TRY(const auto options, fields.object("stream_options"));
  if (!options) return {};
  if (!request.stream) return std::unexpected(bad_field("stream_options", "`stream_options` goes with `stream`: true only."));
  TRY(const auto usage, options->boolean("include_usage"));
  TRY(const auto continuous, options->boolean("continuous_usage_stats"));
  request.include_usage = usage.value_or(false);
  request.continuous_usage = continuous.value_or(false);
  options->find("include_obfuscation");  // OpenAI's: it hides how long tokens are, and chunks here have none of it
  options->note_unread(request.ignored);
  return {};
}

// In the fields of Slipstream alone an unknown key is an error.
Checked read_slipstream(const RequestFields& fields, GenerationRequest& request) {
  TRY(const auto wanted, fields.object("slipstream"));
  if (!wanted) return {};
  for (const auto& field : wanted->object()) {
    if (field.key == "tokens" || field.key == "trees") continue;
    return std::unexpected(
        bad_field(wanted->name(field.key),
                  fmt::format("`{}` is unknown: `slipstream` takes `tokens` and `trees` only.", wanted->name(field.key))));
  }
  TRY(const auto tokens, wanted->boolean("tokens"));
  request.tell_tokens = tokens.value_or(false);
  TRY(const auto trees, wanted->integer("trees", 0, kTreeReportsMax));
  request.spec.trees = static_cast<int32_t>(trees.value_or(0));
  return {};
}

Checked read_model(const RequestFields& fields, const Offer& offer) {
  TRY(const auto model, fields.text("model"));
  if (!model || offer.takes(*model)) return {};
  return std::unexpected(
      ApiError{.status = 404,
               .message = fmt::format("The model `{}` is not served here; `{}` is. See /v1/models.", *model, offer.name()),
               .param = "model",
               .code = "model_not_found"});
}

}  // namespace

ApiResult<void> read_generation(const RequestFields& fields, const Offer& offer, GenerationRequest& request) {
  TRY_VOID(read_model(fields, offer));
  TRY_VOID(read_sampling(fields, offer.defaults.params, request));
  TRY_VOID(read_logits_params(fields, offer.defaults.repetition_penalty, request.spec.logits_params));
  TRY(request.bad_words, read_bad_words(fields));
  TRY_VOID(read_limits(fields, request));
  TRY_VOID(read_stops(fields, request));
  TRY_VOID(read_stop_ids(fields, request));
  TRY(const auto shows_stop, fields.boolean("include_stop_str_in_output"));
  request.shows_stop = shows_stop.value_or(false);
  TRY(const auto skips_special, fields.boolean("skip_special_tokens"));
  request.shows_special = !skips_special.value_or(true);
  TRY_VOID(read_priority(fields, request));
  TRY_VOID(read_stream(fields, request));
  TRY(const auto choices, fields.integer("n", 1, kChoicesMax));
  request.choices = static_cast<int>(choices.value_or(1));
  TRY(AskedGrammar grammar, read_grammar(fields));
  request.spec.grammar = std::move(grammar.grammar);
  request.grammar_field = std::move(grammar.field);
  request.ignored.insert(request.ignored.end(), grammar.ignored.begin(), grammar.ignored.end());
  TRY_VOID(refuse_unbuilt(fields));
  TRY(request.speculation, read_speculation(fields, offer.rules));
  return read_slipstream(fields, request);
}

void note_ignored(const RequestFields& fields, GenerationRequest& request) { fields.note_unread(request.ignored); }

ApiResult<std::vector<std::string>> warnings_of(std::span<const std::string> ignored, const Offer& offer) {
  if (offer.strict && !ignored.empty()) {
    const std::string& field = ignored.front();
    return std::unexpected(
        ApiError{.message = fmt::format("Unknown parameter: `{}`. This server refuses what it does not use (--strict).", field),
                 .param = field,
                 .code = "unknown_parameter"});
  }
  std::vector<std::string> warnings;
  for (const std::string& name : ignored) {
    const bool cut = name.size() > kIgnoredNameBytesMax;
    warnings.push_back(fmt::format("`{}{}` is not used here and was ignored.",
                                   std::string_view(name).substr(0, kIgnoredNameBytesMax), cut ? "..." : ""));
  }
  return warnings;
}

ApiResult<void> tell_ignored(GenerationRequest& request, const Offer& offer) {
  TRY(const auto warnings, warnings_of(request.ignored, offer));
  request.warnings.insert(request.warnings.end(), warnings.begin(), warnings.end());
  return {};
}

}  // namespace slipstream
