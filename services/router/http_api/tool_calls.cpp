#include "services/router/http_api/tool_calls.h"

#include <algorithm>
#include <array>
#include <utility>

namespace slipstream {
namespace {

constexpr std::string_view kOpen = "<tool_call>", kClose = "</tool_call>";
constexpr std::string_view kPythonicExample = "[func_name1(";  // as all templates that teach it write it
constexpr std::array<std::string_view, 3> kJsonWords{"true", "false", "null"};
constexpr std::string_view kSpaces = " \t\r\n", kBehindAnItem = " \t\r\n,]";
constexpr size_t kHeldBytesMax = 256 * 1024;  // of what may become a call: beyond, it is text

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

ToolFormat tool_format_of(std::string_view chat_template) {
  if (chat_template.contains(kOpen)) return ToolFormat::hermes;
  if (chat_template.contains(kPythonicExample)) return ToolFormat::pythonic;
  if (chat_template.contains("\"parameters\"")) return ToolFormat::llama3_json;
  return ToolFormat::none;
}

bool may_begin_document(std::string_view text) {
  if (text.front() != '[' || text.size() == 1) return text.front() != kOpen.front();
  const std::string_view word = text.substr(1);  // of a list, or the name of a call in Python's form
  return !is_name_start(word.front()) || std::ranges::any_of(kJsonWords, [&](std::string_view known) {
    return known.starts_with(word) || (word.starts_with(known) && kBehindAnItem.contains(word[known.size()]));
  });
}

void add_part(std::vector<ToolCall>& calls, ToolCall part) {
  if (part.begins || calls.empty()) {
    calls.push_back(std::move(part));
  } else {
    calls.back().arguments += part.arguments;
    calls.back().ends = part.ends;
  }
}

ToolCallReader::ToolCallReader(ToolFormat format)
    : format_(format), in_(format == ToolFormat::none || format == ToolFormat::hermes ? In::text : In::between) {}

// Bytes that may become a mark wait; all others are read one by one.
ToolCallReader::Piece ToolCallReader::push(std::string_view text) {
  Piece piece;
  for (const char next : text) {
    mark_ += next;
    while (!mark_.empty() && !begins_mark(mark_)) {
      const char first = mark_.front();
      mark_.erase(0, 1);
      read(first, piece);
    }
    if (mark_ == kOpen || mark_ == kClose) read_mark(std::exchange(mark_, {}), piece);
    if (held_.size() > kHeldBytesMax) give_up(piece);
  }
  tell_arguments(piece, false);
  return piece;
}

ToolCallReader::Piece ToolCallReader::flush() {
  Piece piece;
  for (const char next : std::exchange(mark_, {})) read(next, piece);
  tell_arguments(piece, false);
  if (in_ == In::opening || !any_) give_up(piece);
  return piece;
}

bool ToolCallReader::wants(std::string_view mark) const {
  if (format_ != ToolFormat::hermes) return false;
  return in_ == In::between || (in_ == In::text) == (mark == kOpen);
}

bool ToolCallReader::begins_mark(std::string_view text) const {
  return (wants(kOpen) && kOpen.starts_with(text)) || (wants(kClose) && kClose.starts_with(text));
}

void ToolCallReader::read(char next, Piece& piece) {
  switch (in_) {
    case In::text:
      held_ += next;
      behind_ = behind_ && kSpaces.contains(next);
      if (!behind_) piece.text += std::exchange(held_, {});
      break;
    case In::between:
      read_between(next, piece);
      break;
    case In::opening:
    case In::call:
      read_call(next, piece);
      break;
  }
}

// White space before a mark is none of the text.
void ToolCallReader::read_mark(std::string_view mark, Piece& piece) {
  if (mark == kOpen) {
    held_ = kOpen;
    return open();
  }
  if (in_ == In::opening) {
    held_ += kClose;
    return give_up(piece);
  }
  if (in_ == In::call && !told_end_) tell_arguments(piece, true);
  held_.clear();
  behind_ = true;
  in_ = In::text;
}

void ToolCallReader::open() {
  in_ = In::opening;
  told_end_ = false;
  if (format_ == ToolFormat::pythonic) {
    call_ = PythonCall();
  } else {
    call_ = JsonCall();
  }
}

void ToolCallReader::give_up(Piece& piece) {
  piece.text += std::exchange(held_, {});
  in_ = In::text;
}

void ToolCallReader::read_between(char next, Piece& piece) {
  const bool python = format_ == ToolFormat::pythonic;
  const bool begins = python ? listed_ && is_name_start(next) : format_ == ToolFormat::llama3_json && next == '{';
  if (begins) {
    open();
    return read_call(next, piece);
  }
  held_ += next;
  if (kSpaces.contains(next)) return;
  if (format_ == ToolFormat::hermes) {  // its closing mark may still come
    piece.text += std::exchange(held_, {});
    return;
  }
  if (python && !listed_ && !any_ && next == '[') {
    listed_ = true;
  } else if (python && listed_ && any_ && next == ']') {
    listed_ = false;
    held_.clear();
  } else if (!any_ || next != (python ? ',' : ';')) {
    give_up(piece);
  }
}

void ToolCallReader::read_call(char next, Piece& piece) {
  if (in_ == In::opening) held_ += next;
  const CallState state = std::visit([next](auto& call) { return call.read(next); }, call_);
  if (state == CallState::opening) return;
  if (state == CallState::none && in_ == In::opening) return give_up(piece);
  if (in_ == In::opening) {
    held_.clear();
    in_ = In::call;
    any_ = true;
    piece.calls.push_back({.name = std::visit([](const auto& call) { return call.name(); }, call_),
                           .arguments = {},
                           .ends = false,
                           .text_before = piece.text.size()});
  }
  if (state != CallState::begun && !told_end_) tell_arguments(piece, true);
  if (state == CallState::closed) in_ = In::between;
}

void ToolCallReader::tell_arguments(Piece& piece, bool ends) {
  if (in_ != In::call || told_end_) return;
  std::string arguments = std::visit([](auto& call) { return call.take_arguments(); }, call_);
  told_end_ = ends;
  if (arguments.empty() && !ends) return;
  const bool goes_on = !piece.calls.empty() && !piece.calls.back().ends;
  ToolCall part{.name = {}, .arguments = std::move(arguments), .begins = false, .ends = ends, .text_before = piece.text.size()};
  if (goes_on) {
    add_part(piece.calls, std::move(part));
  } else {
    piece.calls.push_back(std::move(part));
  }
}

}  // namespace slipstream
