#include "services/router/http_api/asked.h"

#include <algorithm>
#include <array>

#include "services/router/http_api/anthropic_request.h"
#include "services/router/http_api/completion_format.h"
#include "services/router/http_api/ollama_request.h"
#include "services/router/http_api/paths.h"
#include "services/router/http_api/responses_request.h"

namespace slipstream {
namespace {

template <class Request>
Asked completion(CompletionKind kind, Request request) {
  const StreamUsage usage{.last = request.include_usage, .continuous = request.continuous_usage};
  return {.request = std::move(request), .format = [kind, usage](AnswerHead head) {
            return std::make_unique<CompletionFormat>(kind, std::move(head), usage);
          }};
}

ApiResult<Asked> read_chat(std::string_view body, const ServedModel& model) {
  TRY(ChatRequest request, parse_chat_request(body, model.offer));
  return completion(CompletionKind::chat, std::move(request));
}

ApiResult<Asked> read_completion(std::string_view body, const ServedModel& model) {
  TRY(CompletionRequest request, parse_completion_request(body, model.offer));
  return completion(CompletionKind::text, std::move(request));
}

constexpr std::array kGenerationApis{GenerationApi{kOllamaChatPath, "ollama-", read_ollama_chat},
                                     GenerationApi{kOllamaGeneratePath, "ollama-", read_ollama_generate},
                                     GenerationApi{kChatPath, "chatcmpl-", read_chat},
                                     GenerationApi{kCompletionsPath, "cmpl-", read_completion},
                                     GenerationApi{kResponsesPath, "resp_", read_responses},
                                     GenerationApi{kMessagesPath, "msg_", read_anthropic}};

}  // namespace

const GenerationApi* generation_api(std::string_view path) {
  const auto at = std::ranges::find(kGenerationApis, path, &GenerationApi::path);
  return at == kGenerationApis.end() ? nullptr : &*at;
}

}  // namespace slipstream
