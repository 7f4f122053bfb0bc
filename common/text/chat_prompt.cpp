#include "common/text/chat_prompt.h"

#include <algorithm>
#include <string>

#include "common/text/marker.h"

namespace slipstream {
namespace {

constexpr size_t kRoleBytesMax = 32;

// A template may build a special token around a role ("<|" + role + "|>"), so a role is a plain word.
Result<void> check_role(const std::string& role) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-'; };
  if (role.empty() || role.size() > kRoleBytesMax || !std::ranges::all_of(role, plain)) {
    return fail("a role is a word of 1 to {} letters, like \"user\"; got \"{}\"", kRoleBytesMax, role.substr(0, kRoleBytesMax));
  }
  return {};
}

}  // namespace

Result<std::vector<TokenId>> chat_prompt(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                                         std::span<const ChatMessage> messages, size_t tokens_max) {
  TRY(const Marker marker, Marker::for_messages(messages, tokenizer.specials()));
  std::vector<ChatMessage> harmless;
  harmless.reserve(messages.size());
  for (const ChatMessage& message : messages) {
    TRY_VOID(check_role(message.role));
    TRY(std::string content, marker.marked(message.content));
    harmless.push_back({message.role, std::move(content)});
  }
  TRY(const std::string text, chat_template.render(harmless));
  if (const size_t tokens = tokenizer.tokens_at_least(text.size()); tokens > tokens_max) {
    return fail("the messages have at least {} tokens, the limit is {}: shorten them", tokens, tokens_max);
  }
  TRY(std::vector<TokenId> ids, tokenizer.encode_marked(text, marker.mark()));
  if (ids.size() > tokens_max)
    return fail("the messages have {} tokens, the limit is {}: shorten them", ids.size(), tokens_max);
  return ids;
}

}  // namespace slipstream
