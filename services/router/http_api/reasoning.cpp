#include "services/router/http_api/reasoning.h"

#include <algorithm>
#include <utility>

namespace slipstream {
namespace {

constexpr std::string_view kOpen = "<think>", kClose = "</think>";
constexpr std::string_view kSpaces = " \t\r\n";
constexpr size_t kSpaceBytesMost = 64;  // that are held back: more is no space around a mark

std::string_view without_space_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kSpaces), text.size()));
}

// Bytes of `text` up to the white space at its end.
size_t words_end(std::string_view text) { return text.find_last_not_of(kSpaces) + 1; }  // npos + 1 is 0

}  // namespace

Reasoning reasoning_of(std::string_view chat_template, std::string_view prompts_end) {
  if (!chat_template.contains(kClose) && !chat_template.contains(kOpen)) return Reasoning::none;
  const bool begun = prompts_end.substr(0, words_end(prompts_end)).ends_with(kOpen);
  return begun ? Reasoning::begun : Reasoning::may_begin;
}

ReasoningReader::ReasoningReader(Reasoning reasoning)
    : at_(reasoning == Reasoning::none        ? At::text
          : reasoning == Reasoning::may_begin ? At::before
                                              : At::inside),
      prompt_began_(reasoning == Reasoning::begun) {}

ReasoningReader::Piece ReasoningReader::push(std::string_view text) {
  Piece piece;
  held_ += text;
  if (at_ == At::before) read_begin();
  if (at_ == At::inside) read_inside(piece);
  if (at_ == At::behind) read_behind();
  if (at_ == At::text) piece.text += std::exchange(held_, {});
  return piece;
}

void ReasoningReader::read_begin() {
  const std::string_view words = without_space_before(held_);
  const bool undecided = kOpen.starts_with(words) && words.size() < kOpen.size();
  if (undecided && held_.size() <= kSpaceBytesMost) return;
  if (!words.starts_with(kOpen)) {
    at_ = At::text;
    return;
  }
  held_ = std::string(words.substr(kOpen.size()));
  at_ = At::inside;
}

// Some models write the mark again that their prompt ended with.
void ReasoningReader::read_inside(Piece& piece) {
  if (!thought_) held_ = std::string(without_space_before(held_));
  if (prompt_began_ && !thought_) {
    if (held_.size() < kOpen.size() && kOpen.starts_with(held_)) return;
    if (held_.starts_with(kOpen)) held_ = std::string(without_space_before(std::string_view(held_).substr(kOpen.size())));
    prompt_began_ = false;
  }
  const size_t close = held_.find(kClose);
  if (close != std::string::npos) {
    piece.reasoning += held_.substr(0, words_end(std::string_view(held_).substr(0, close)));
    held_.erase(0, close + kClose.size());
    at_ = At::behind;
    return;
  }
  size_t shown = held_.size();  // up to what may be the space before the mark, and its beginning
  for (size_t size = std::min(held_.size(), kClose.size() - 1); size > 0; --size) {
    if (!held_.ends_with(kClose.substr(0, size))) continue;
    shown = held_.size() - size;
    break;
  }
  const size_t words = words_end(std::string_view(held_).substr(0, shown));
  if (shown - words <= kSpaceBytesMost) shown = words;
  if (shown == 0) return;
  thought_ = true;
  piece.reasoning += held_.substr(0, shown);
  held_.erase(0, shown);
}

void ReasoningReader::read_behind() {
  held_ = std::string(without_space_before(held_));
  if (!held_.empty()) at_ = At::text;
}

ReasoningReader::Piece ReasoningReader::flush() {
  Piece piece;
  if (at_ == At::inside) {
    piece.reasoning = held_.substr(0, words_end(held_));
  } else if (at_ != At::behind) {
    piece.text = held_;
  }
  held_.clear();
  return piece;
}

}  // namespace slipstream
