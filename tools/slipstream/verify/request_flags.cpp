#include "tools/slipstream/verify/request_flags.h"

#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "common/base/names.h"

namespace slipstream::command::verify {
namespace {

using Json = nlohmann::json;

// Fields that every question sets (chat_client.cpp), or that would remove what is compared.
constexpr std::array<std::string_view, 11> kOurOwn{"model",       "messages",   "max_tokens", "max_completion_tokens",
                                                   "temperature", "seed",       "stream",     "stream_options",
                                                   "logprobs",    "slipstream", "speculation"};

template <class T>
void put(Json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}

std::string text(const Json& json) { return json.empty() ? std::string() : json.dump(); }

// A schema's `type` is none of the words that OpenAI's field has for its own.
Result<Json> read_response_format(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail("--response-format: cannot read {}", path);
  Json read = Json::parse(file, nullptr, false);
  if (!read.is_object()) return fail("--response-format: {} has no JSON object, such as a JSON schema", path);
  const Json type = read.value("type", Json());
  if (type == "json_schema" || type == "json_object") return read;
  return Json{{"type", "json_schema"}, {"json_schema", {{"name", "answer"}, {"schema", std::move(read)}}}};
}

}  // namespace

Result<std::string> RequestFlags::json() const {
  Json all = Json::object();
  if (!fields.empty()) {
    all = Json::parse(fields, nullptr, false);
    if (!all.is_object()) return fail("--fields must be a JSON object, such as '{{\"bad_words\": [\"no\"]}}'");
  }
  for (const std::string_view name : kOurOwn) {
    if (all.contains(name)) return fail("--fields has \"{}\", which this command sets itself", name);
  }
  Json flags = Json::object();
  put(flags, "top_p", top_p);
  put(flags, "top_k", top_k);
  put(flags, "min_p", min_p);
  put(flags, "repetition_penalty", repetition_penalty);
  put(flags, "presence_penalty", presence_penalty);
  put(flags, "frequency_penalty", frequency_penalty);
  if (!response_format.empty()) {
    TRY(flags["response_format"], read_response_format(response_format));
  }
  for (const auto& flag : flags.items()) {
    if (!all.contains(flag.key())) continue;
    std::string name = flag.key();
    std::ranges::replace(name, '_', '-');
    return fail("\"{}\" is given twice, in --fields and with --{}; leave one of them out", flag.key(), name);
  }
  all.update(flags);
  return text(all);
}

std::string SpeculationFlags::json() const {
  Json all = Json::object();
  if (!drafter.empty()) all["drafter"] = drafter;
  put(all, "siblings", siblings);
  put(all, "nodes", nodes);
  put(all, "depth", depth);
  put(all, "lenience", lenience);
  put(all, "epsilon", epsilon);
  put(all, "delta", delta);
  return text(all);
}

bool SpeculationFlags::declares_bias() const {
  const auto known = std::ranges::find(kRuleFields, rule, &RuleFields::rule);
  return known != kRuleFields.end() && !known->strength.empty();
}

bool SpeculationFlags::promises_bytes() const { return rule.empty() || rule == "coupled"; }

Result<void> SpeculationFlags::check() const {
  const auto has = std::ranges::find(kRuleFields, rule.empty() ? "coupled" : rule, &RuleFields::rule);
  if (has == kRuleFields.end()) {
    return fail("--rule \"{}\" is no rule; choose one of {}", rule, fmt::join(kRuleNames, ", "));
  }
  const auto goes = [&](std::string_view name, bool given, bool fits) -> Result<void> {
    if (!given || fits) return {};
    return fail("--{} does not go with the rule {}; leave one of them out", name, has->rule);
  };
  TRY_VOID(goes("siblings", siblings.has_value(), has->siblings));
  for (const auto& [name, given] : {std::pair{std::string_view("lenience"), lenience.has_value()},
                                    {"epsilon", epsilon.has_value()},
                                    {"delta", delta.has_value()}}) {
    const bool needed = name == has->strength || name == has->delta;
    TRY_VOID(goes(name, given, needed));
    if (needed && !given) return fail("--rule {} needs --{}, between 0 and 1; --help says what it is", rule, name);
  }
  return {};
}

}  // namespace slipstream::command::verify
