#include "tools/slipstream/top/full_screen.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "common/base/check.h"

namespace slipstream::command::top {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // the alternate screen, without a cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H", kEraseRow = "\x1b[K", kEraseBelow = "\x1b[J";
constexpr char kCtrlC = 3, kCtrlD = 4, kCtrlZ = 26, kEscape = 27;

void write_now(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

FullScreen::FullScreen() {
  sigemptyset(&signals_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&signals_, number);
  sigprocmask(SIG_BLOCK, &signals_, &before_);
  descriptor_ = signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK);
  CHECK(descriptor_ >= 0, "signalfd: {}", errno);
  enter();
}

FullScreen::~FullScreen() {
  close(descriptor_);
  leave();  // first: a signal that waits ends the process at the next line
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void FullScreen::enter() {
  keys_.emplace(TerminalMode::Typing::keys);
  write_now(kEnter);
}

void FullScreen::leave() {
  write_now(kLeave);
  keys_.reset();
}

void FullScreen::draw(std::span<const std::string> rows) {
  std::string text(kHome);
  for (const std::string& row : rows) {
    text += fmt::format("{}{}{}", &row == rows.data() ? "" : "\r\n", kEraseRow, row);  // a full row must not wrap
  }
  write_now(text + std::string(kEraseBelow));
}

FullScreen::Event FullScreen::wait(std::chrono::milliseconds at_most) {
  pollfd waited[] = {{STDIN_FILENO, POLLIN, 0}, {descriptor_, POLLIN, 0}};
  const auto timeout = std::max(at_most, std::chrono::milliseconds(0));
  if (poll(waited, std::size(waited), static_cast<int>(timeout.count())) <= 0) return Event::time;
  return waited[1].revents != 0 ? signal_event() : key_event();
}

FullScreen::Event FullScreen::signal_event() const {
  signalfd_siginfo info{};
  if (read(descriptor_, &info, sizeof info) != sizeof info) return Event::resized;
  return info.ssi_signo == SIGWINCH ? Event::resized : Event::quit;
}

// An arrow key begins with ESC and has more bytes behind it: it is no Escape.
FullScreen::Event FullScreen::key_event() {
  char keys[64];
  const ssize_t count = read(STDIN_FILENO, keys, sizeof keys);
  if (count <= 0) return Event::quit;
  const std::string_view typed(keys, static_cast<size_t>(count));
  if (typed.starts_with(kEscape)) return count == 1 ? Event::quit : Event::resized;
  const auto ends = [](char key) { return key == 'q' || key == 'Q' || key == kCtrlC || key == kCtrlD; };
  if (std::ranges::any_of(typed, ends)) return Event::quit;
  if (typed.contains(kCtrlZ)) {
    leave();
    suspend_process();
    enter();
  }
  return Event::resized;  // perhaps, while it was stopped
}

}  // namespace slipstream::command::top
