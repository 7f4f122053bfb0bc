#include "tools/slipstream/chat/prompt.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include <fmt/format.h>

#include "tools/slipstream/tty.h"

namespace slipstream::command::chat {
namespace {

constexpr std::string_view kMark = "> ";
constexpr std::string_view kBracketsOn = "\x1b[?2004h", kBracketsOff = "\x1b[?2004l";  // around pasted text
constexpr std::string_view kEraseRest = "\x1b[K";
constexpr int kLineColumnsMin = 8;  // of the line that is edited, however narrow the window

}  // namespace

Prompt::Read Prompt::read() {
  if (interactive_) return edited();
  std::string line;
  return std::getline(std::cin, line) ? Read{.line = line} : Read{};
}

Prompt::Read Prompt::edited() {
  keys_.emplace(TerminalMode::Typing::keys);
  fmt::print("{}", kBracketsOn);
  editor_.begin();
  draw();
  const LineEditor::Event event = next_event();
  fmt::print("{}\n", kBracketsOff);
  std::fflush(stdout);
  keys_.reset();
  editor_.remember();
  if (event == LineEditor::Event::line) return {.line = editor_.text()};
  return {.interrupted = event == LineEditor::Event::interrupt};
}

LineEditor::Event Prompt::next_event() {
  while (const auto byte = next_byte()) {
    const LineEditor::Event event = editor_.type(*byte);
    if (event == LineEditor::Event::suspend) suspend();
    if (event != LineEditor::Event::none && event != LineEditor::Event::suspend) return event;
    draw();
  }
  return LineEditor::Event::end;
}

void Prompt::suspend() {
  fmt::print("{}\n", kBracketsOff);
  std::fflush(stdout);
  keys_.reset();
  suspend_process();
  keys_.emplace(TerminalMode::Typing::keys);
  fmt::print("{}", kBracketsOn);
}

std::optional<char> Prompt::next_byte() {
  pollfd waited[] = {{STDIN_FILENO, POLLIN, 0}, {ending_, POLLIN, 0}};
  while (poll(waited, std::size(waited), -1) < 0) {
  }
  char byte = 0;
  if (waited[1].revents != 0 || ::read(STDIN_FILENO, &byte, 1) != 1) return std::nullopt;
  return byte;
}

void Prompt::draw() const {
  const int room = terminal_size().columns - static_cast<int>(kMark.size());
  const LineEditor::View view = editor_.view(std::max(room, kLineColumnsMin));
  const int column = static_cast<int>(kMark.size()) + view.cursor;
  fmt::print("\r{}{}{}\r\x1b[{}C", kMark, view.text, kEraseRest, column);
  std::fflush(stdout);
}

}  // namespace slipstream::command::chat
