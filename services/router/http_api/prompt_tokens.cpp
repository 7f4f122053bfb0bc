#include "services/router/http_api/prompt_tokens.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/text/chat_prompt.h"
#include "common/text/utf8.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {

ApiResult<void> fits_context(size_t bytes, std::string_view field, const Tokenizer& tokenizer, int32_t context) {
  const size_t least = tokenizer.tokens_at_least(bytes);
  if (least <= static_cast<size_t>(context)) return {};
  return std::unexpected(
      ApiError{.message = fmt::format("{} Your `{}` took at least {}. Shorten it.", context_words(context), field, least),
               .param = std::string(field),
               .code = "context_length_exceeded"});
}

ApiResult<std::vector<TokenId>> text_tokens(std::string_view text, bool with_prefix, const Tokenizer& tokenizer,
                                            int32_t context) {
  TRY_VOID(fits_context(text.size(), "prompt", tokenizer, context));
  auto words = tokenizer.encode(text, true);
  if (!words) return std::unexpected(bad_field("prompt", fmt::format("`prompt`: {}", words.error().message)));
  std::vector<TokenId> tokens = with_prefix ? tokenizer.prefix() : std::vector<TokenId>();
  tokens.insert(tokens.end(), words->begin(), words->end());
  return tokens;
}

std::string longest_result(std::span<const ChatMessage> messages) {
  size_t bytes = 0;
  for (const ChatMessage& message : messages) bytes += message.content.size();
  const auto longest =
      std::ranges::max_element(messages, {}, [](const ChatMessage& message) { return message.content.size(); });
  const bool is_result = longest != messages.end() && longest->role == "tool" && 2 * longest->content.size() > bytes;
  return is_result ? fmt::format("messages[{}]", longest - messages.begin()) : "";
}

namespace {

ApiError blamed(ApiError error, std::string result) {
  if (result.empty()) return error;
  error.message += fmt::format(" Most of it is `{}`.", result);
  error.param = std::move(result);
  return error;
}

}  // namespace

ApiResult<std::vector<TokenId>> chat_tokens(std::span<const ChatMessage> messages, const Tokenizer& tokenizer,
                                            const ChatTemplate& chat_template, int32_t context, const ChatExtras& extras) {
  size_t bytes = 0;
  for (const ChatMessage& message : messages) bytes += message.content.size() + message.more.size();
  if (!extras.tools.empty() && !chat_template.reads("tools")) {
    return std::unexpected(unsupported("tools", "This model's chat template has no place for tools: leave `tools` out."));
  }
  if (auto fits = fits_context(bytes, "messages", tokenizer, context); !fits) {
    return std::unexpected(blamed(std::move(fits.error()), longest_result(messages)));
  }
  auto prompt = chat_prompt(tokenizer, chat_template, messages, std::numeric_limits<size_t>::max(), extras);
  if (!prompt) {
    return std::unexpected(
        bad_field("messages", fmt::format("`messages` do not fit the model's chat template: {}", prompt.error().message)));
  }
  if (prompt->empty()) {
    return std::unexpected(bad_field("messages", "`messages` give an empty prompt: write at least one word."));
  }
  return *std::move(prompt);
}

ApiResult<std::vector<TokenId>> prompt_tokens(const Prompt& prompt, const Tokenizer& tokenizer, int32_t vocabulary,
                                              int32_t context) {
  std::vector<TokenId> tokens;
  if (const auto* text = std::get_if<std::string>(&prompt)) {
    TRY(tokens, text_tokens(*text, true, tokenizer, context));
  } else {
    tokens = std::get<std::vector<TokenId>>(prompt);
    const auto unknown = std::ranges::find_if(tokens, [&](TokenId id) { return id >= vocabulary; });
    if (unknown != tokens.end()) {
      return std::unexpected(bad_field(
          "prompt", fmt::format("`prompt` has token {}; this model's tokens are 0 to {}.", *unknown, vocabulary - 1)));
    }
  }
  if (tokens.size() >= static_cast<size_t>(context)) {
    return std::unexpected(
        ApiError{.message = fmt::format("{} Your `prompt` took {} of them, and an answer needs room. Shorten it.",
                                        context_words(context), tokens.size()),
                 .param = "prompt",
                 .code = "context_length_exceeded"});
  }
  if (!tokens.empty()) return tokens;
  return std::unexpected(bad_field("prompt", "`prompt` has no token: write at least one word."));
}

ApiResult<std::string> prompt_text(const Prompt& prompt, const Tokenizer& tokenizer) {
  if (const auto* text = std::get_if<std::string>(&prompt)) return *text;
  const auto bytes = tokenizer.whole_text(std::get<std::vector<TokenId>>(prompt));
  if (!bytes) return std::unexpected(bad_field("prompt", fmt::format("`prompt`: {}", bytes.error().message)));
  return lossy_utf8(*bytes);
}

}  // namespace slipstream
