#include "services/router/http_api/tokens_api.h"

#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/base/limits.h"
#include "common/text/chat_prompt.h"
#include "common/text/utf8.h"
#include "services/router/http_api/generation_fields.h"
#include "services/router/http_api/json_text.h"
#include "services/router/http_api/message_fields.h"
#include "services/router/http_api/prompt_tokens.h"
#include "services/router/http_api/request_body.h"
#include "services/router/http_api/template_fields.h"

namespace slipstream {

using Json = nlohmann::ordered_json;

namespace {

// Where nothing was ignored, the answer is vLLM's to the byte.
ApiResult<std::string> with_warnings(Json answer, std::span<const std::string> ignored, const Offer& offer) {
  TRY(const auto warnings, warnings_of(ignored, offer));
  if (!warnings.empty()) answer["slipstream"] = {{"warnings", warnings}};
  return dump(answer);
}

}  // namespace

ApiResult<std::string> TokensApi::tokenize(std::string_view body) const {
  TRY(const RequestBody json, RequestBody::parse(body));
  const RequestFields& fields = json.fields();
  TRY(const auto text, fields.text("prompt"));
  TRY(const auto special, fields.boolean("add_special_tokens"));
  TRY(const auto strings, fields.boolean("return_token_strs"));
  fields.find("model");  // vLLM's clients send it
  std::vector<std::string> ignored;
  std::vector<TokenId> tokens;
  if (text) {
    TRY(tokens, text_tokens(*text, special.value_or(true), model.tokenizer, context));
  } else if (!fields.find("messages")) {
    return std::unexpected(bad_field("prompt", "`prompt` is missing: send a text as `prompt`, or a chat as `messages`."));
  } else {
    TRY(const auto messages, read_messages(fields, ignored));
    TRY(const TemplateFields read, read_template_fields(fields));
    ignored.insert(ignored.end(), read.tools.ignored.begin(), read.tools.ignored.end());
    TRY(tokens, chat_tokens(messages, model.tokenizer, model.chat_template, context, read.extras));
  }
  Json answer{{"count", tokens.size()}, {"max_model_len", context}, {"tokens", tokens}, {"token_strs", nullptr}};
  if (strings.value_or(false)) {
    answer["token_strs"] = Json::array();
    for (const TokenId id : tokens) answer["token_strs"].push_back(lossy_utf8(model.tokenizer.piece(id).value_or("")));
  }
  fields.note_unread(ignored);
  return with_warnings(std::move(answer), ignored, model.offer);
}

ApiResult<std::string> TokensApi::detokenize(std::string_view body) const {
  TRY(const RequestBody json, RequestBody::parse(body));
  const auto found = json.fields().find("tokens");
  json.fields().find("model");
  simdjson::dom::array list;
  if (!found || found->get(list) != simdjson::SUCCESS) {
    return std::unexpected(bad_field("tokens", "`tokens` must be a list of token ids."));
  }
  if (list.size() > static_cast<size_t>(kContextTokensMax)) {
    return std::unexpected(too_many("tokens", "token ids", list.size(), kContextTokensMax));
  }
  std::vector<TokenId> tokens;
  for (const simdjson::dom::element one : list) {
    int64_t id = -1;
    if (one.get(id) != simdjson::SUCCESS || id < 0 || id >= model.vocabulary) {
      return std::unexpected(
          bad_field("tokens", fmt::format("`tokens` must hold token ids only: integers from 0 to {}.", model.vocabulary - 1)));
    }
    tokens.push_back(static_cast<TokenId>(id));
  }
  const auto bytes = model.tokenizer.whole_text(tokens);
  if (!bytes) return std::unexpected(bad_field("tokens", fmt::format("`tokens`: {}", bytes.error().message)));
  std::vector<std::string> ignored;
  json.fields().note_unread(ignored);
  return with_warnings(Json{{"prompt", lossy_utf8(*bytes)}}, ignored, model.offer);
}

}  // namespace slipstream
