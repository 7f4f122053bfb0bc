// The terminal that the command runs in: its size, and how it hands over what is typed. Not
// thread-safe.
#pragma once

#include <termios.h>

namespace slipstream::command {

// Whether somebody sits there: standard input and output are a terminal that understands the
// escape sequences which move a cursor.
bool is_interactive();

struct TerminalSize {
  int columns = 80, rows = 24;
};
TerminalSize terminal_size();  // of standard output; the default if it is no terminal

// Stops this process until it is told to go on, as Ctrl-Z does where it is no key. REQUIRES: the
// terminal is as it was before the program (no TerminalMode is in force).
void suspend_process();

// Changes how the terminal hands over what is typed, until it is destroyed. Where standard input
// is no terminal it does nothing.
class TerminalMode {
 public:
  enum class Typing {
    keys,   // each key comes at once, unseen, and Ctrl-C and Ctrl-Z are keys
    unseen  // as usual, but what is typed is not shown: it would mix with what is printed
  };
  explicit TerminalMode(Typing typing);
  ~TerminalMode();
  TerminalMode(const TerminalMode&) = delete;
  TerminalMode& operator=(const TerminalMode&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

}  // namespace slipstream::command
