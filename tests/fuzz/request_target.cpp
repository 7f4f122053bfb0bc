#include <array>
#include <fstream>

#include <nlohmann/json.hpp>

#include "common/base/check.h"
#include "services/router/http_api/anthropic_request.h"
#include "services/router/http_api/asked.h"
#include "services/router/http_api/ollama_models.h"
#include "services/router/http_api/paths.h"
#include "services/router/http_api/prompts.h"
#include "services/router/http_api/tokens_api.h"
#include "tests/fuzz/served_model.h"
#include "tests/fuzz/target.h"

namespace slipstream::fuzz {
namespace {

constexpr std::array kPaths{kChatPath,           kCompletionsPath, kResponsesPath,  kMessagesPath, kOllamaChatPath,
                            kOllamaGeneratePath, kCountTokensPath, kOllamaShowPath, kTokenizePath, kDetokenizePath};

ApiResult<std::string> answer(std::string_view path, std::string_view body) {
  const ServedModel& model = served_model();
  if (path == kCountTokensPath) return count_anthropic(body, model, model.context_max);
  if (path == kOllamaShowPath) return ollama_show(body, model, model.context_max);
  const TokensApi tokens{model, model.context_max};
  if (path == kTokenizePath) return tokens.tokenize(body);
  if (path == kDetokenizePath) return tokens.detokenize(body);
  const GenerationApi* api = generation_api(path);
  TRY(Asked asked, api->read(body, model));
  const auto prompts = std::visit([&](const auto& one) { return prompts_of(one, model, model.context_max); }, asked.request);
  if (!prompts) return std::unexpected(asked.names.renamed(prompts.error()));
  return std::string();
}

// A good request to each API.
std::vector<std::string> good_requests() {
  std::vector<std::string> corpus;
  const auto add = [&](std::string_view path, const std::string& body) {
    corpus.push_back(static_cast<char>(std::ranges::find(kPaths, path) - kPaths.begin()) + body);
  };
  const std::string chat =
      R"("messages":[{"role":"system","content":"a"},{"role":"user","content":[{"type":"text","text":"b"}]}])";
  add(kChatPath, "{" + chat + R"(,"temperature":0.5,"stop":["x"],"logit_bias":{"5":1},"bad_words":["b"],"n":2,"seed":-1}")");
  add(kChatPath,
      "{" + chat + R"(,"stream":true,"stream_options":{"include_usage":true},"slipstream":{"tokens":true,"trees":3}})");
  add(kChatPath, "{" + chat + R"(,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],)" +
                     R"("tool_choice":"required","response_format":{"type":"json_schema","json_schema":{"schema":{}}}})");
  add(kChatPath,
      R"({"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":1}"}}]},)"
      R"({"role":"tool","tool_call_id":"1","content":"c"}],"chat_template_kwargs":{"enable_thinking":false}})");
  add(kChatPath, "{" + chat + R"(,"speculation":{"rule":"ratio","siblings":2,"nodes":4},"guided_regex":"a+","logprobs":true})");
  add(kCompletionsPath, R"({"prompt":["a",[1,2]],"echo":true,"logprobs":3,"max_tokens":0,"best_of":2})");
  add(kResponsesPath,
      R"({"input":[{"role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"function_call","name":"f",)"
      R"("call_id":"1","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"b"}],)"
      R"("text":{"format":{"type":"json_schema","schema":{}}},"metadata":{"a":"b"},"instructions":"c"})");
  add(kMessagesPath, R"({"max_tokens":4,"system":[{"type":"text","text":"a"}],"messages":[{"role":"user","content":"b"},)"
                     R"({"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user",)"
                     R"("content":[{"type":"tool_result","tool_use_id":"1","content":"c"}]}],"thinking":{"type":"enabled"}})");
  add(kOllamaChatPath,
      R"({"model":"m","messages":[{"role":"user","content":"a"}],"options":{"num_predict":3},"format":"json"})");
  add(kOllamaGeneratePath, R"({"model":"m","prompt":"a","system":"b","stream":false,"think":true})");
  add(kCountTokensPath, R"({"messages":[{"role":"user","content":"b"}]})");
  add(kOllamaShowPath, R"({"model":"m"})");
  add(kTokenizePath, R"({"prompt":"ab<s>","add_special_tokens":true,"return_token_strs":true})");
  add(kDetokenizePath, R"({"tokens":[1,5,63]})");
  return corpus;
}

void ask(std::string_view input) {
  if (input.empty()) return;
  const std::string_view path = kPaths[static_cast<unsigned char>(input[0]) % kPaths.size()];
  const auto answered = answer(path, input.substr(1));
  if (answered) return;
  const ApiError& error = answered.error();
  CHECK(error.status >= 400 && error.status < 500, "status {}: {}", error.status, error.message);
  CHECK(!error.message.empty() && !error.code.empty(), "an error without words or a code");
  const auto json = nlohmann::json::parse(error_json(error, error_shape_of(path)), nullptr, false);
  CHECK(!json.is_discarded(), "the error is not JSON");
}

}  // namespace

Target request_target() {
  return {.name = "request",
          .corpus = good_requests(),
          .words = {"null",
                    "true",
                    "-1",
                    "1e999",
                    "18446744073709551616",
                    "0.5",
                    "\"\"",
                    "[]",
                    "{}",
                    "[[",
                    "{\"a\":",
                    "\\ud800",
                    "\\u0000",
                    "\xff",
                    "\xe2\x82",
                    "<|turn|>",
                    "\"model\":",
                    "\"prompt\":",
                    "\"stop\":",
                    "\"content\":",
                    "\"arguments\":",
                    "\"allowed_token_ids\":[",
                    "\"stop_token_ids\":[",
                    "\"continue_final_message\":true,",
                    ",",
                    "}",
                    "]"},
          .run = ask};
}

}  // namespace slipstream::fuzz
