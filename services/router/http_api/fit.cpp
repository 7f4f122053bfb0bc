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

// The tokens that the request's grammar lets the answer begin with; nullopt: it has no grammar. A
// grammar that cannot be compiled here can be compiled by no verifier.
ApiResult<std::optional<TokenMask>> compiled(const GenerationRequest& request, GrammarCache* grammars) {
  if (request.spec.grammar.empty()) return std::nullopt;
  const std::string& field = request.grammar_field;
  if (is_biased(request.speculation.acceptance.rule)) {
    return std::unexpected(bad_field(
        field, fmt::format("`{}` needs an acceptance rule without a declared bias: such a rule may accept what is forbidden.",
                           field)));
  }
  if (grammars == nullptr) {
    return std::unexpected(
        unsupported(field, fmt::format("`{}` cannot be followed: the model names no token that ends an answer.", field)));
  }
  const auto grammar = grammars->compile(request.spec.grammar);
  auto first = grammar ? (*grammar)->allowed_after({}) : Result<TokenMask>(std::unexpected(grammar.error()));
  if (first) return *std::move(first);
  return std::unexpected(bad_field(field, fmt::format("`{}` cannot be followed: {}", field, first.error().message)));
}

// What a grammar of calls cannot follow is a tool's schema.
ApiError blamed(const Asked& asked, ApiError error, const ServedModel& model) {
  const auto* chat = std::get_if<ChatRequest>(&asked.request);
  if (chat == nullptr || !chat->must_call || !model.grammars) return error;
  return blamed_tool(chat->extras.tools, chat->call_only, *model.grammars).value_or(std::move(error));
}

}  // namespace

bool needs_grammar(const GenerationRequest& request) { return request.must_call || !request.spec.grammar.empty(); }

ApiResult<void> fit(Asked& asked, const std::vector<PromptTokens>& prompts, const FitTo& to) {
  GenerationRequest& request = asked.generation();
  const ServedModel& model = to.model;
  if (const auto* chat = std::get_if<ChatRequest>(&asked.request)) {
    TRY_VOID(fit_calls(request, to.tool_format, chat->extras.tools, to.grammars));
    const std::span prompt = prompts.front().tokens;
    const auto end = model.tokenizer.decode(prompt.last(std::min(prompt.size(), kPromptsEndTokens)), false);
    if (request.splits_reasoning && request.spec.grammar.empty()) {  // a grammar has no room for reasoning
      request.reasoning = reasoning_of(model.chat_template.source(), end.value_or(""));
    }
  }
  std::vector<TokenId>& stop_ids = request.spec.stop_ids;
  auto compile = compiled(request, to.grammars);
  if (!compile) return std::unexpected(blamed(asked, std::move(compile.error()), model));
  const std::optional<TokenMask> first = *std::move(compile);
  if (!request.ignore_eos || first) stop_ids.insert(stop_ids.end(), model.eos_ids.begin(), model.eos_ids.end());
  std::ranges::sort(stop_ids);
  const auto doubles = std::ranges::unique(stop_ids);
  stop_ids.erase(doubles.begin(), doubles.end());
  // Verifiers do not know which field asked for the grammar.
  if (first) asked.names.add(std::string(kGrammarField), asked.names.own(request.grammar_field));
  return fit_adjustments(request.spec, request.bad_words, model.tokenizer, model.vocabulary,
                         {.mask = first ? &*first : nullptr, .field = request.grammar_field});
}

}  // namespace slipstream
