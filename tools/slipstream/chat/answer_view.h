// What a terminal is told to show an answer as it streams: words are not broken at the edge of the
// window, and a line of figures stands below the text until the answer ends.
//
//   AnswerView view(palette);
//   write(view.add(piece, columns));            // each time that text comes
//   write(view.below("58 tokens ...", columns));  // as often as is wanted
//   write(view.end());                          // the cursor is on a new line
//
// The last column stays empty: a terminal whose last column is full has its cursor in no column
// that all terminals agree on. A word is shown as it comes, and moves to the next line once it does
// not fit. Pure, but for the locale (letters.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/slipstream/chat_client.h"
#include "tools/slipstream/terminal.h"

namespace slipstream::command::chat {

class AnswerView {
 public:
  explicit AnswerView(const Palette& palette) : palette_(palette) {}

  // piece: without control characters (harmless()). columns: of the window now.
  std::string add(const Piece& piece, int columns);
  std::string below(std::string figures, int columns);
  std::string end();

 private:
  void take(char32_t letter, bool drafted, int room);
  void take_blank(char32_t blank, int room);
  void write(char32_t letter, bool drafted);
  void flush();  // letters that wait for others of their colour
  void break_line();
  void move_word_down();
  std::string figures_line(int columns) const;

  const Palette& palette_;
  std::string out_;
  Piece run_;                // letters of one colour that out_ does not have yet
  int column_ = 0;           // of the cursor
  bool full_ = false;        // blanks fill the line: the next word begins a new one
  std::vector<Piece> word_;  // the word at the cursor
  int word_columns_ = 0;
  std::string figures_;   // below the text; empty: none
  bool covered_ = false;  // by text that went on in their line
};

}  // namespace slipstream::command::chat
