#include "common/text/chat_prompt.h"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

constexpr char32_t kFirstMark = 0xF0000;
constexpr char32_t kLastMark = 0x10FFFD;
constexpr size_t kRoleBytesMax = 32;

// Marks go into contents only, and a template may build a special token around a role ("<|" + role
// + "|>"). So a role must be a plain word.
Result<void> check_role(const std::string& role) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-'; };
  if (role.empty() || role.size() > kRoleBytesMax || !std::ranges::all_of(role, plain)) {
    return fail("a role is a word of 1 to {} letters, like \"user\"; got \"{}\"", kRoleBytesMax, role.substr(0, kRoleBytesMax));
  }
  return {};
}

// UTF-8 of a character beyond U+FFFF, as all marks are.
std::string four_bytes(char32_t character) {
  const auto byte = [&](char32_t lead, int shift, char32_t bits) {
    return static_cast<char>(lead | ((character >> shift) & bits));
  };
  return {byte(0xF0, 18, 0x07), byte(0x80, 12, 0x3F), byte(0x80, 6, 0x3F), byte(0x80, 0, 0x3F)};
}

// Sets used[] for the private-use characters in the text. Every mark has four bytes in UTF-8 with a
// first byte of 0xF3 or 0xF4, so nothing else in the text can be confused with it, even if the text
// is not valid UTF-8.
void tick_off(std::string_view text, std::vector<bool>& used) {
  const auto bits = [&](size_t at) { return static_cast<char32_t>(static_cast<uint8_t>(text[at]) & 0x3F); };
  for (size_t at = 0; at + 3 < text.size(); ++at) {
    const auto lead = static_cast<uint8_t>(text[at]);
    if (lead < 0xF3) continue;
    const char32_t character = static_cast<char32_t>(lead & 0x07) << 18 | bits(at + 1) << 12 | bits(at + 2) << 6 | bits(at + 3);
    if (character >= kFirstMark && character <= kLastMark) used[character - kFirstMark] = true;
  }
}

// A JSON text with its characters written as they are: an escape could hide a mark.
std::string unescaped(const std::string& json) { return json.empty() ? json : Json::parse(json).dump(); }

// Marks all strings of the value, keys included.
Result<Json> marked_value(const Json& value, const Marker& marker) {
  if (value.is_string()) return marker.marked(value.get_ref<const std::string&>());
  if (!value.is_structured()) return value;
  Json marked = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, member] : value.items()) {
    TRY(Json harmless, marked_value(member, marker));
    if (value.is_array()) {
      marked.push_back(std::move(harmless));
    } else {
      TRY(const std::string name, marker.marked(key));
      marked[name] = std::move(harmless);
    }
  }
  return marked;
}

Result<std::string> marked_json(const std::string& json, const Marker& marker) {
  if (json.empty()) return json;
  TRY(const Json marked, marked_value(Json::parse(json), marker));
  return marked.dump();
}

// Ends the last message with two marks, which nothing else has side by side, so that the place is
// found again in what the template made of it. Spaces at its end would begin the next token.
Result<std::string> mark_end(std::string message, const std::string& mark) {
  message.erase(message.find_last_not_of(" \t\r\n") + 1);
  if (message.empty()) return fail("the last message is empty: there is nothing to continue");
  return message + mark + mark;
}

// Cuts what the template wrote behind the last message.
Result<void> cut_at(const std::string& mark, std::string& text) {
  const size_t at = text.rfind(mark + mark);
  if (at == std::string::npos) return fail("the template does not write the last message as it is: it cannot be continued");
  text.resize(at);
  return {};
}

size_t first_character_bytes(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(size, text.size());
}

}  // namespace

Marker::Marker(char32_t mark, std::span<const std::string> specials)
    : mark_(mark), mark_text_(four_bytes(mark)), specials_(specials) {}

Result<Marker> Marker::for_texts(std::span<const std::string> texts, std::span<const std::string> specials) {
  std::vector<bool> used(kLastMark - kFirstMark + 1);
  for (const std::string& text : texts) tick_off(text, used);
  const auto unused = std::ranges::find(used, false);
  if (unused == used.end()) return fail("the messages use every private-use character of Unicode: leave one of them out");
  return Marker(kFirstMark + static_cast<char32_t>(unused - used.begin()), specials);
}

// `rest` begins with a special token, or is the beginning of one.
bool Marker::begins_special(std::string_view rest) const {
  return std::ranges::any_of(specials_, [&](std::string_view special) {
    return !special.empty() && rest.starts_with(special.substr(0, rest.size()));
  });
}

// `words` begin with the end of a special token.
bool Marker::ends_special(std::string_view words) const {
  return std::ranges::any_of(specials_, [&](std::string_view special) {
    for (size_t from = 1; from < special.size(); ++from) {
      if (words.starts_with(special.substr(from))) return true;
    }
    return false;
  });
}

Result<std::string> Marker::marked(std::string_view words) const {
  std::string text = ends_special(words) ? mark_text_ : "";
  while (!words.empty()) {
    const size_t size = first_character_bytes(words);
    text += words.substr(0, size);
    if (begins_special(words)) text += mark_text_;
    if (std::ranges::find(specials_, words.substr(0, size)) != specials_.end()) {
      return fail("a message contains the character {}, which is a control token of this model: leave it out",
                  words.substr(0, size));
    }
    words.remove_prefix(size);
  }
  return text;
}

Result<std::vector<TokenId>> chat_prompt(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                                         std::span<const ChatMessage> messages, size_t tokens_max, const ChatExtras& extras) {
  std::vector<std::string> texts;
  for (const ChatMessage& message : messages) {
    texts.push_back(message.content);
    texts.push_back(unescaped(message.more));
  }
  texts.push_back(unescaped(extras.tools));
  texts.push_back(unescaped(extras.variables));
  TRY(const Marker marker, Marker::for_texts(texts, tokenizer.specials()));
  std::vector<ChatMessage> harmless;
  harmless.reserve(messages.size());
  for (const ChatMessage& message : messages) {
    TRY_VOID(check_role(message.role));
    TRY(std::string content, marker.marked(message.content));
    TRY(std::string more, marked_json(message.more, marker));
    harmless.push_back({message.role, std::move(content), std::move(more)});
  }
  if (extras.continue_final_message && !harmless.empty()) {
    TRY(harmless.back().content, mark_end(std::move(harmless.back().content), four_bytes(marker.mark())));
  }
  ChatExtras beside = extras;
  TRY(beside.tools, marked_json(extras.tools, marker));
  TRY(beside.variables, marked_json(extras.variables, marker));
  TRY(std::string text, chat_template.render(harmless, std::chrono::system_clock::now(), beside));
  if (extras.continue_final_message) TRY_VOID(cut_at(four_bytes(marker.mark()), text));
  // Checked by size first: tokenizing a text of many megabytes takes seconds.
  if (const size_t tokens = tokenizer.tokens_at_least(text.size()); tokens > tokens_max) {
    return fail("the messages have at least {} tokens, the limit is {}: shorten them", tokens, tokens_max);
  }
  TRY(std::vector<TokenId> ids, tokenizer.encode_marked(text, marker.mark()));
  if (ids.size() > tokens_max)
    return fail("the messages have {} tokens, the limit is {}: shorten them", ids.size(), tokens_max);
  return ids;
}

}  // namespace slipstream
