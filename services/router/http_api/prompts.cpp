#include "services/router/http_api/prompts.h"

#include "services/router/http_api/prompt_tokens.h"

namespace slipstream {

ApiResult<std::vector<PromptTokens>> prompts_of(const ChatRequest& request, const ServedModel& model, int32_t context) {
  TRY(auto tokens, chat_tokens(request.messages, model.tokenizer, model.chat_template, context, request.extras));
  return std::vector{PromptTokens{.tokens = std::move(tokens)}};
}

ApiResult<std::vector<PromptTokens>> prompts_of(const CompletionRequest& request, const ServedModel& model, int32_t context) {
  std::vector<PromptTokens> prompts;
  for (const Prompt& prompt : request.prompts) {
    TRY(auto tokens, prompt_tokens(prompt, model.tokenizer, model.vocabulary, context));
    PromptTokens& made = prompts.emplace_back(PromptTokens{.tokens = std::move(tokens)});
    if (!request.echo) continue;
    TRY(made.echo, prompt_text(prompt, model.tokenizer));
  }
  return prompts;
}

}  // namespace slipstream
