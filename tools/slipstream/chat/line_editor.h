// Edits one line as it is typed: arrow keys, Home and End, deletion by letter, word and line, and
// the lines before it (arrow up). It takes the bytes that a terminal sends and says what is to be
// seen; it touches no terminal itself. Pure, but for the locale, by which wcwidth(3) tells how wide
// a letter is.
//
//   editor.begin();
//   while (editor.type(byte) == LineEditor::Event::none) draw(editor.view(columns));
//
// Pasted text arrives in brackets ("bracketed paste"), so that its line breaks are part of the
// line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slipstream::command::chat {

class LineEditor {
 public:
  static constexpr size_t kHistoryMax = 1000;          // lines
  static constexpr size_t kLineMax = size_t{1} << 20;  // letters; further ones are not taken

  enum class Event : uint8_t {
    none,
    line,       // Enter: text() is the line
    interrupt,  // Ctrl-C
    suspend,    // Ctrl-Z: the line goes on afterwards
    end         // Ctrl-D on an empty line
  };

  void begin();  // a new, empty line
  Event type(char byte);
  std::string text() const;  // UTF-8
  void remember();           // puts the line into the history, unless it is empty or the last one again
  bool empty() const { return line_.empty(); }

  // The part of the line around the cursor that `columns` columns can show, and the column of the
  // cursor in it. columns >= 2.
  struct View {
    std::string text;
    int cursor = 0;
  };
  View view(int columns) const;

 private:
  Event key(char32_t letter);
  Event control(char32_t letter);
  void escape(char byte);  // a byte of an escape sequence
  void run_sequence(const std::string& sequence);
  void insert(char32_t letter);
  void erase(size_t from, size_t to);
  size_t word_left() const;
  size_t word_right() const;
  void recall(size_t at);

  std::u32string line_;
  size_t cursor_ = 0;    // in letters
  std::string pending_;  // bytes of a letter that is not whole yet
  std::string escape_;   // bytes of an escape sequence that is not whole yet, without ESC
  bool escaping_ = false, pasting_ = false;
  std::vector<std::u32string> history_;
  size_t recalled_ = 0;   // index in history_; its size: the new line
  std::u32string fresh_;  // the new line while another one is recalled
};

}  // namespace slipstream::command::chat
