#include "services/router/http_api/fit.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "services/router/http_api/logits_fields.h"
#include "services/router/http_api/tool_blame.h"
#include "services/router/http_api/tool_grammar.h"

namespace slipstream {
namespace {

constexpr size_t kPromptsEndTokens = 8;  // that a template may write a mark with

}  // namespace

ApiResult<void> choose_grammar(Asked& asked, const ServedModel& model, ToolFormat format) {
  GenerationRequest& request = asked.generation();
  if (const auto* chat = std::get_if<ChatRequest>(&asked.request)) TRY_VOID(add_calls(request, format, chat->extras.tools));
  if (request.spec.grammar.empty()) return {};
  const std::string& field = request.grammar_field;
  if (is_biased(request.speculation.acceptance.rule)) {
    return std::unexpected(bad_field(
        field, fmt::format("`{}` needs an acceptance rule without a declared bias: such a rule may accept what is forbidden.",
                           field)));
  }
  if (model.grammars) return {};
  return std::unexpected(
      unsupported(field, fmt::format("`{}` cannot be followed: the model names no token that ends an answer.", field)));
}

std::optional<GrammarCache::Compiled> followed(GenerationRequest& request, const CompileText& compile) {
  const auto compiled = compile(request.spec.grammar);
  if (!compiled || *compiled || request.grammar_without_tools.empty()) return compiled;
  leave_out_tools(request);
  return compile(request.spec.grammar);
}

ApiError cannot_follow(Asked& asked, const GrammarError& why, GrammarCache& grammars) {
  const std::string& field = asked.generation().grammar_field;
  ApiError error = bad_field(field, fmt::format("`{}` cannot be followed: {}", field, why.message));
  const auto* chat = std::get_if<ChatRequest>(&asked.request);
  if (chat == nullptr || !chat->must_call) return error;
  return blamed_tool(chat->extras.tools, chat->call_only, grammars).value_or(std::move(error));
}

ApiResult<void> fit(Asked& asked, const std::vector<PromptTokens>& prompts, const ServedModel& model, const Grammar* grammar) {
  GenerationRequest& request = asked.generation();
  const bool is_chat = std::holds_alternative<ChatRequest>(asked.request);
  if (is_chat && request.splits_reasoning && grammar == nullptr) {  // a grammar has no room for reasoning
    const std::span prompt = prompts.front().tokens;
    const auto end = model.tokenizer.decode(prompt.last(std::min(prompt.size(), kPromptsEndTokens)), false);
    request.reasoning = reasoning_of(model.chat_template.source(), end.value_or(""));
  }
  std::vector<TokenId>& stop_ids = request.spec.stop_ids;
  if (!request.ignore_eos || grammar != nullptr) stop_ids.insert(stop_ids.end(), model.eos_ids.begin(), model.eos_ids.end());
  std::ranges::sort(stop_ids);
  const auto doubles = std::ranges::unique(stop_ids);
  stop_ids.erase(doubles.begin(), doubles.end());
  // Verifiers do not know which field asked for the grammar.
  if (grammar != nullptr) asked.names.add(std::string(kGrammarField), asked.names.own(request.grammar_field));
  return fit_adjustments(request.spec, request.bad_words, model.tokenizer, model.vocabulary,
                         {.mask = grammar != nullptr ? &grammar->first() : nullptr, .field = request.grammar_field});
}

}  // namespace slipstream
