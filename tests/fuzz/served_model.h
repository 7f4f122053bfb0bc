// The tiny model as a router serves it, with a template that shows tools and calls.
#pragma once

#include <filesystem>

#include "common/base/check.h"
#include "common/base/names.h"
#include "services/router/http_api/served_model.h"

namespace slipstream::fuzz {

inline constexpr std::string_view kTemplate =
    "{%- if tools %}<|turn|>system\n{% for tool in tools %}{{ tool | tojson }}{% endfor %}<tool_call></s>{% endif %}"
    "{%- for m in messages %}<|turn|>{{ m.role }}\n{{ m.content }}"
    "{%- for call in m.tool_calls or [] %}[{{ call.function.name }} {{ call.function.arguments | tojson }}]{% endfor %}"
    "{%- if m.tool_call_id %} for {{ m.tool_call_id }}{% endif %}</s>{% endfor %}"
    "{%- if enable_thinking is defined %}thinking {{ enable_thinking }}{% endif %}"
    "{%- if add_generation_prompt %}<|turn|>assistant\n{% endif %}";

inline const ServedModel& served_model() {
  static const ServedModel model = [] {
    const auto folder = std::filesystem::path(SLIPSTREAM_SOURCE_FOLDER) / "tests/data/tiny-llama";
    auto tokenizer = Tokenizer::load(folder / "tokenizer.json");
    CHECK(tokenizer.has_value(), "{}", tokenizer.error().message);
    auto chat_template = ChatTemplate::parse(kTemplate, "", "the template");
    CHECK(chat_template.has_value(), "{}", chat_template.error().message);
    auto grammars = Grammars::make(*tokenizer, std::vector<TokenId>{2}, 64);
    CHECK(grammars.has_value(), "{}", grammars.error().message);
    return ServedModel{
        .offer = {.names = {"m"}, .rules = {kRuleNames.begin(), kRuleNames.end()}, .defaults = {}, .ollama = true},
        .tokenizer = *std::move(tokenizer),
        .chat_template = *std::move(chat_template),
        .grammars = *std::move(grammars),
        .vocabulary = 64,
        .eos_ids = {2},
        .context_max = 1024,
        .draft_nodes_max = 8};
  }();
  return model;
}

}  // namespace slipstream::fuzz
