// A terminal's whole window, for a program that draws it again and again. What stood there before
// comes back at the end. Not thread-safe.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "tools/slipstream/tty.h"

namespace slipstream::command::top {

class FullScreen {
 public:
  enum class Event { time, resized, quit };  // quit: q, Ctrl-C, Ctrl-D or Escape, or a signal that ends the program

  // REQUIRES: no other thread runs: it takes SIGWINCH and the signals that end a program, so that
  // the window is as before when they do.
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  void draw(std::span<const std::string> rows);  // from the top; the rest is emptied
  Event wait(std::chrono::milliseconds at_most);

 private:
  Event signal_event() const;
  Event key_event();
  void enter();  // the window is this program's
  void leave();

  std::optional<TerminalMode> keys_;
  sigset_t signals_{}, before_{};
  int descriptor_;  // a signalfd
};

}  // namespace slipstream::command::top
