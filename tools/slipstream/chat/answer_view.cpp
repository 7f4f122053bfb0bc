#include "tools/slipstream/chat/answer_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/text/utf8.h"
#include "tools/slipstream/chat/letters.h"

namespace slipstream::command::chat {
namespace {

constexpr std::string_view kEraseRest = "\x1b[K";
constexpr std::string_view kNextLine = "\n\x1b[K";  // without the figures that may stand there
constexpr int kRoomMin = 2;                         // columns: a wide letter
constexpr int kTabColumns = 8;
constexpr int kWide = 2;

}  // namespace

std::string AnswerView::add(const Piece& piece, int columns) {
  const int room = std::max(columns - 1, kRoomMin);
  for (const char32_t letter : letters_of(lossy_utf8(piece.text))) take(letter, piece.drafted, room);
  flush();
  if (std::exchange(covered_, false)) out_ += figures_line(columns);
  return std::exchange(out_, {});
}

void AnswerView::take(char32_t letter, bool drafted, int room) {
  if (letter == '\n') return break_line();
  if (letter == ' ' || letter == '\t') return take_blank(letter, room);
  const int wide = columns_of(letter);
  if (full_) break_line();
  if (wide == kWide) {  // such scripts have no blanks: a line may break before each letter
    word_.clear();
    word_columns_ = 0;
  }
  if (column_ + wide > room) word_columns_ > 0 && word_columns_ < column_ ? move_word_down() : break_line();
  write(letter, drafted);
  if (word_.empty() || word_.back().drafted != drafted) word_.push_back({.text = {}, .drafted = drafted});
  append_utf8(word_.back().text, letter);
  column_ += wide;
  word_columns_ += wide;
}

void AnswerView::take_blank(char32_t blank, int room) {
  const int wide = blank == '\t' ? kTabColumns - column_ % kTabColumns : 1;
  word_.clear();
  word_columns_ = 0;
  full_ = full_ || column_ + wide > room;
  if (full_) return;
  for (int i = 0; i < wide; ++i) write(' ', false);
  column_ += wide;
}

void AnswerView::write(char32_t letter, bool drafted) {
  if (run_.drafted != drafted) flush();
  run_.drafted = drafted;
  append_utf8(run_.text, letter);
}

void AnswerView::flush() {
  if (!run_.text.empty()) out_ += palette_.paint(run_);
  run_.text.clear();
}

void AnswerView::break_line() {
  flush();
  out_ += kNextLine;
  column_ = word_columns_ = 0;
  word_.clear();
  full_ = false;
  covered_ = true;
}

void AnswerView::move_word_down() {
  flush();
  out_ += fmt::format("\x1b[{}D{}{}", word_columns_, kEraseRest, kNextLine);
  for (const Piece& part : word_) out_ += palette_.paint(part);
  column_ = word_columns_;
  covered_ = true;
}

std::string AnswerView::below(std::string figures, int columns) {
  figures_ = std::move(figures);
  return figures_line(columns);
}

// The cursor goes back to where the text goes on.
std::string AnswerView::figures_line(int columns) const {
  if (figures_.empty()) return "";
  const auto room = static_cast<size_t>(std::max(columns - 1, kRoomMin));
  const std::string right = column_ > 0 ? fmt::format("\x1b[{}C", column_) : "";
  return fmt::format("{}{}\x1b[1A\r{}", kNextLine, palette_.aside(std::string_view(figures_).substr(0, room)), right);
}

std::string AnswerView::end() {
  break_line();
  figures_.clear();
  covered_ = false;
  return std::exchange(out_, {});
}

}  // namespace slipstream::command::chat
