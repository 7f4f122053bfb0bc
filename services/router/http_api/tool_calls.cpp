#include "services/router/http_api/tool_calls.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "services/router/http_api/bounded_json.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOpen = "<tool_call>", kClose = "</tool_call>";
constexpr std::string_view kSpaces = " \t\r\n";
constexpr size_t kHeldBytesMax = 256 * 1024;  // of what may become a call: beyond, it is text
constexpr int kSemicolonsTried = 256;         // of one answer, as the end of a call: each costs a pass over the text

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) + 1 - first);
}

// A call written as a JSON object whose arguments are the object of this name.
std::optional<ToolCall> call_of(std::string_view text, std::initializer_list<const char*> arguments) {
  const auto parsed = parse_bounded_object(text);
  if (!parsed || !parsed->contains("name") || !parsed->at("name").is_string()) return std::nullopt;
  const Json& json = *parsed;
  for (const char* field : arguments) {
    if (json.contains(field) && json[field].is_object()) {
      return ToolCall{json["name"].get<std::string>(), json[field].dump(-1, ' ', false, Json::error_handler_t::replace)};
    }
  }
  return std::nullopt;
}

// The calls of a whole text in Llama's form; empty: it is none, or has more semicolons than a text
// of calls would.
std::vector<ToolCall> llama_calls(std::string_view text) {
  std::vector<ToolCall> calls;
  int tries = kSemicolonsTried;
  for (text = trimmed(text); !text.empty();) {
    // A semicolon may be part of a string, so each one is tried as the end.
    size_t end = text.find(';');
    std::optional<ToolCall> call;
    for (;; end = text.find(';', end + 1)) {
      if (--tries < 0) return {};
      call = call_of(trimmed(text.substr(0, end)), {"parameters", "arguments"});
      if (call || end == std::string_view::npos) break;
    }
    if (!call) return {};
    calls.push_back(*std::move(call));
    text = end == std::string_view::npos ? std::string_view() : trimmed(text.substr(end + 1));
  }
  return calls;
}

// How many bytes at the end of `text` are the beginning of `word`.
size_t begun(std::string_view text, std::string_view word) {
  for (size_t size = std::min(text.size(), word.size() - 1); size > 0; --size) {
    if (text.ends_with(word.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

ToolFormat tool_format_of(std::string_view chat_template) {
  if (chat_template.contains(kOpen)) return ToolFormat::hermes;
  if (chat_template.contains("\"parameters\"")) return ToolFormat::llama3_json;
  return ToolFormat::none;
}

ToolCallReader::Piece ToolCallReader::push(std::string_view text) {
  Piece piece;
  held_ += text;
  if (format_ == ToolFormat::hermes) read_hermes(piece);
  if (format_ == ToolFormat::llama3_json) read_llama(piece);
  if (format_ == ToolFormat::none || held_.size() > kHeldBytesMax) give_up(piece);
  return piece;
}

void ToolCallReader::give_up(Piece& piece) {
  format_ = ToolFormat::none;
  piece.text += (std::exchange(inside_, false) ? std::string(kOpen) : "") + std::exchange(held_, {});
}

// Llama's form is the whole text or nothing.
void ToolCallReader::read_llama(Piece& piece) {
  searched_ = std::min(held_.find_first_not_of(kSpaces, searched_), held_.size());
  if (searched_ < held_.size() && held_[searched_] != '{') give_up(piece);
}

void ToolCallReader::read_hermes(Piece& piece) {
  for (;;) {
    const std::string_view word = inside_ ? kClose : kOpen;
    const size_t at = held_.find(word, searched_);
    searched_ = at == std::string::npos ? held_.size() - std::min(held_.size(), word.size() - 1) : 0;
    if (at == std::string::npos) break;
    const std::string before = held_.substr(0, at);
    held_.erase(0, at + word.size());
    if (!inside_) {
      piece.text += before;
    } else if (auto call = call_of(trimmed(before), {"arguments", "parameters"})) {
      piece.calls.push_back(*std::move(call));
    } else {
      piece.text += std::string(kOpen) + before + std::string(kClose);
    }
    inside_ = !inside_;
  }
  if (inside_) return;
  const size_t shown = held_.size() - begun(held_, kOpen);
  piece.text += held_.substr(0, shown);
  held_.erase(0, shown);
  searched_ = 0;
}

ToolCallReader::Piece ToolCallReader::flush() {
  Piece piece;
  const std::string rest = std::exchange(held_, {});
  if (format_ == ToolFormat::llama3_json) {
    piece.calls = llama_calls(rest);
  } else if (inside_) {  // a stop string or the end of the answer may stand in for the closing word
    if (auto call = call_of(trimmed(rest), {"arguments", "parameters"})) piece.calls.push_back(*std::move(call));
  }
  if (piece.calls.empty()) piece.text = (inside_ ? std::string(kOpen) : "") + rest;
  return piece;
}

}  // namespace slipstream
