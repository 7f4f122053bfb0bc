#include "tools/slipstream/tty.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

namespace slipstream::command {

bool is_interactive() {
  const char* kind = std::getenv("TERM");
  const bool moves = kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
  return moves && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

TerminalSize terminal_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

// Only this thread gets the signal: it stops here, and not after its next steps.
void suspend_process() { raise(SIGTSTP); }

TerminalMode::TerminalMode(Typing typing) {
  if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios mode = before_;
  mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  if (typing == Typing::keys) {
    mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ISIG | IEXTEN);
    mode.c_iflag &= ~static_cast<tcflag_t>(ICRNL | IXON);
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
  }
  changed_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0;
}

TerminalMode::~TerminalMode() {
  if (changed_) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

}  // namespace slipstream::command
