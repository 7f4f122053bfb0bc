#include "services/router/http_api/ollama_models.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "services/router/http_api/json_text.h"
#include "services/router/http_api/ollama_format.h"
#include "services/router/http_api/ollama_request.h"
#include "services/router/http_api/request_body.h"
#include "services/router/http_api/tool_calls.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

// What this side does not know of the weights is empty.
Json details() {
  return {{"parent_model", ""},        {"format", ""},         {"family", ""},
          {"families", Json::array()}, {"parameter_size", ""}, {"quantization_level", ""}};
}

}  // namespace

std::string ollama_tags(const ServedModel& model, int64_t created) {
  Json list = Json::array();
  for (const std::string& name : model.offer.names) {
    if (name == kAnyModelName) continue;
    list.push_back({{"name", name},
                    {"model", name},
                    {"modified_at", utc_text(created)},
                    {"size", 0},
                    {"digest", ""},
                    {"details", details()}});
  }
  return dump(Json{{"models", std::move(list)}});
}

ApiResult<void> check_ollama_model(std::string_view name, const Offer& offer) {
  if (offer.takes(name) || offer.takes(without_latest(name))) return {};
  return std::unexpected(ApiError{.status = 404,
                                  .message = fmt::format("model '{}' not found: `{}` is served here", name, offer.name()),
                                  .param = "model",
                                  .code = "model_not_found"});
}

ApiResult<std::string> ollama_show(std::string_view body, const ServedModel& model, int32_t context) {
  TRY(const RequestBody json, RequestBody::parse(body));
  TRY(auto name, json.fields().text("model"));
  if (!name) {
    TRY(name, json.fields().text("name"));  // of older clients
  }
  if (!name) return std::unexpected(bad_field("model", "`model` is missing."));
  TRY_VOID(check_ollama_model(*name, model.offer));
  Json capabilities = Json::array({"completion"});
  if (tool_format_of(model.chat_template.source()) != ToolFormat::none) capabilities.push_back("tools");
  return dump(Json{{"modelfile", ""},
                   {"parameters", ""},
                   {"template", model.chat_template.source()},
                   {"details", details()},
                   {"model_info",
                    {{"general.architecture", "slipstream"},
                     {"general.basename", model.offer.name()},
                     {"slipstream.context_length", context},
                     {"slipstream.vocab_size", model.vocabulary}}},
                   {"capabilities", std::move(capabilities)}});
}

}  // namespace slipstream
