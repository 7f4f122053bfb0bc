// Reads the lines of a chat: with a line editor where somebody sits at a terminal, and as they come
// from a pipe or a file elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/slipstream/chat/line_editor.h"
#include "tools/slipstream/tty.h"

namespace slipstream::command::chat {

class Prompt {
 public:
  struct Read {
    std::optional<std::string> line;  // nullopt: there are no more (Ctrl-D, the end of the pipe), or Ctrl-C
    bool interrupted = false;         // it was Ctrl-C
  };

  // interactive: standard input is a terminal (is_interactive()). ending: a descriptor that is
  // readable once no more lines are wanted; -1: none.
  Prompt(bool interactive, int ending) : interactive_(interactive), ending_(ending) {}
  Read read();

 private:
  Read edited();
  LineEditor::Event next_event();   // but for Event::suspend
  std::optional<char> next_byte();  // nullopt: the terminal is gone, or `ending_`
  void draw() const;
  void suspend();

  bool interactive_;
  int ending_;
  LineEditor editor_;
  std::optional<TerminalMode> keys_;  // while a line is edited
};

}  // namespace slipstream::command::chat
