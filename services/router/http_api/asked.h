// What the reader of an API makes of a request's body. It is the one form in which requests of all
// APIs go on: a chat or prompts, and the format that writes the answer.
//
//   body -> Read -> Asked -> tokens of its prompts -> Submits ... Deliveries -> Answer -> AnswerFormat
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "services/router/http_api/answer_format.h"
#include "services/router/http_api/chat_request.h"
#include "services/router/http_api/completion_request.h"
#include "services/router/http_api/field_names.h"
#include "services/router/http_api/served_model.h"

namespace slipstream {

struct Asked {
  std::variant<ChatRequest, CompletionRequest> request;
  std::function<std::unique_ptr<AnswerFormat>(AnswerHead)> format;  // of the answer; called once
  FieldNames names = {};                                            // as the API has them
  std::string at_once = {};  // the JSON that answers it, where nothing is to be generated; else empty

  GenerationRequest& generation() {
    return std::visit([](auto& one) -> GenerationRequest& { return one; }, request);
  }
};

// An API that generates text.
struct GenerationApi {
  std::string_view path;
  std::string_view id_prefix;  // of its answers' ids
  // On the text thread. Errors name the fields as the API does.
  ApiResult<Asked> (*read)(std::string_view body, const ServedModel& model);
};

// null: the path is another's.
const GenerationApi* generation_api(std::string_view path);

}  // namespace slipstream
