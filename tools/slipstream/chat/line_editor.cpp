#include "tools/slipstream/chat/line_editor.h"

#include <algorithm>
#include <utility>

#include "common/text/utf8.h"
#include "tools/slipstream/chat/letters.h"

namespace slipstream::command::chat {
namespace {

constexpr char32_t ctrl(char letter) { return static_cast<char32_t>(letter & 0x1f); }
constexpr char kEscape = 0x1b;
constexpr char32_t kDelete = 0x7f;
constexpr char32_t kLineBreakShown = U'\u23ce';  // a line break of pasted text, as one sign
constexpr size_t kSequenceMax = 16;              // bytes of an escape sequence; a longer one is none

char32_t shown(char32_t letter) { return letter == '\n' ? kLineBreakShown : letter; }

int width(char32_t letter) { return columns_of(shown(letter)); }

bool blank(char32_t letter) { return letter == ' ' || letter == '\t' || letter == '\n'; }

}  // namespace

void LineEditor::begin() {
  line_.clear();
  fresh_.clear();
  pending_.clear();
  cursor_ = 0;
  escaping_ = pasting_ = false;
  recalled_ = history_.size();
}

std::string LineEditor::text() const {
  std::string text;
  for (const char32_t letter : line_) append_utf8(text, letter);
  return text;
}

void LineEditor::remember() {
  if (line_.empty() || (!history_.empty() && history_.back() == line_)) return;
  if (history_.size() == kHistoryMax) history_.erase(history_.begin());
  history_.push_back(line_);
}

LineEditor::Event LineEditor::type(char byte) {
  if (escaping_ || byte == kEscape) {
    escape(byte);
    return Event::none;
  }
  pending_ += byte;
  Event event = Event::none;
  for (const char32_t letter : letters_of(take_utf8(pending_))) event = key(letter);
  return event;
}

LineEditor::Event LineEditor::key(char32_t letter) {
  if (pasting_) {
    if (letter >= ' ' || blank(letter) || letter == '\r') insert(letter == '\r' ? U'\n' : letter);
    return Event::none;
  }
  if (letter >= ' ' && letter != kDelete) {
    insert(letter);
    return Event::none;
  }
  return control(letter);
}

LineEditor::Event LineEditor::control(char32_t letter) {
  switch (letter) {
    case ctrl('M'):
    case ctrl('J'):
      return Event::line;
    case ctrl('C'):
      return Event::interrupt;
    case ctrl('Z'):
      return Event::suspend;
    case ctrl('D'):
      if (line_.empty()) return Event::end;
      erase(cursor_, cursor_ + 1);
      break;
    case kDelete:
    case ctrl('H'):
      if (cursor_ > 0) erase(cursor_ - 1, cursor_);
      break;
    case ctrl('A'):
      cursor_ = 0;
      break;
    case ctrl('E'):
      cursor_ = line_.size();
      break;
    case ctrl('B'):
      run_sequence("[D");
      break;
    case ctrl('F'):
      run_sequence("[C");
      break;
    case ctrl('P'):
      run_sequence("[A");
      break;
    case ctrl('N'):
      run_sequence("[B");
      break;
    case ctrl('K'):
      erase(cursor_, line_.size());
      break;
    case ctrl('U'):
      erase(0, cursor_);
      break;
    case ctrl('W'):
      erase(word_left(), cursor_);
      break;
    default:
      break;
  }
  return Event::none;
}

// A sequence is ESC and a letter, or ESC, '[' or 'O', digits and semicolons, and the letter that
// ends it.
void LineEditor::escape(char byte) {
  if (byte == kEscape) {
    escaping_ = true;
    escape_.clear();
    return;
  }
  escape_ += byte;
  const bool goes_on = escape_ == "[" || escape_ == "O" || (escape_.size() > 1 && (byte < 0x40 || byte > 0x7e));
  if (goes_on && escape_.size() < kSequenceMax) return;
  escaping_ = false;
  run_sequence(escape_);
}

void LineEditor::run_sequence(const std::string& sequence) {
  const auto is = [&](auto... names) { return ((sequence == names) || ...); };
  if (is("[200~")) pasting_ = true;
  if (is("[201~")) pasting_ = false;
  if (is("[A", "OA") && recalled_ > 0) recall(recalled_ - 1);
  if (is("[B", "OB") && recalled_ < history_.size()) recall(recalled_ + 1);
  if (is("[C", "OC") && cursor_ < line_.size()) ++cursor_;
  if (is("[D", "OD") && cursor_ > 0) --cursor_;
  if (is("[H", "OH", "[1~", "[7~")) cursor_ = 0;
  if (is("[F", "OF", "[4~", "[8~")) cursor_ = line_.size();
  if (is("[3~")) erase(cursor_, cursor_ + 1);
  if (is("[1;5D", "[1;3D", "b")) cursor_ = word_left();
  if (is("[1;5C", "[1;3C", "f")) cursor_ = word_right();
}

void LineEditor::insert(char32_t letter) {
  if (line_.size() >= kLineMax) return;
  line_.insert(cursor_++, 1, letter);
}

void LineEditor::erase(size_t from, size_t to) {
  line_.erase(from, std::min(to, line_.size()) - from);
  cursor_ = std::min(from, line_.size());
}

size_t LineEditor::word_left() const {
  size_t at = cursor_;
  while (at > 0 && blank(line_[at - 1])) --at;
  while (at > 0 && !blank(line_[at - 1])) --at;
  return at;
}

size_t LineEditor::word_right() const {
  size_t at = cursor_;
  while (at < line_.size() && blank(line_[at])) ++at;
  while (at < line_.size() && !blank(line_[at])) ++at;
  return at;
}

void LineEditor::recall(size_t at) {
  if (recalled_ == history_.size()) fresh_ = line_;
  recalled_ = at;
  line_ = at == history_.size() ? fresh_ : history_[at];
  cursor_ = line_.size();
}

LineEditor::View LineEditor::view(int columns) const {
  // From the cursor to the left as far as there is room; one column is for the cursor itself.
  size_t first = cursor_;
  int before = 0;
  while (first > 0 && before + width(line_[first - 1]) < columns) before += width(line_[--first]);
  View view{.cursor = before};
  int used = 0;
  for (size_t at = first; at < line_.size() && used + width(line_[at]) < columns; ++at) {
    used += width(line_[at]);
    append_utf8(view.text, shown(line_[at]));
  }
  return view;
}

}  // namespace slipstream::command::chat
