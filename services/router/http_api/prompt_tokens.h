// Turns the prompts of requests into tokens, and back into text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/text/chat_template.h"
#include "common/text/tokenizer.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/completion_request.h"

namespace slipstream {

// An error if a text of so many bytes is too long whatever its words are: found before tokenising
// it takes time. field: of the request, for the error. context: tokens.
ApiResult<void> fits_context(size_t bytes, std::string_view field, const Tokenizer& tokenizer, int32_t context);

// The tokens of a text, in which special tokens count as such; with_prefix: behind those that the
// model's tokenizer puts before a text.
ApiResult<std::vector<TokenId>> text_tokens(std::string_view text, bool with_prefix, const Tokenizer& tokenizer,
                                            int32_t context);

// The message that is longer than all others together, as errors name it, if it is a tool's result;
// "": none is.
std::string longest_result(std::span<const ChatMessage> messages);

// The tokens of a chat, up to where the answer begins. Errors name `messages`, or
// that one.
ApiResult<std::vector<TokenId>> chat_tokens(std::span<const ChatMessage> messages, const Tokenizer& tokenizer,
                                            const ChatTemplate& chat_template, int32_t context, const ChatExtras& extras = {});

// At least one token, each in [0, vocabulary). Errors name `prompt`.
ApiResult<std::vector<TokenId>> prompt_tokens(const Prompt& prompt, const Tokenizer& tokenizer, int32_t vocabulary,
                                              int32_t context);
ApiResult<std::string> prompt_text(const Prompt& prompt, const Tokenizer& tokenizer);

}  // namespace slipstream
