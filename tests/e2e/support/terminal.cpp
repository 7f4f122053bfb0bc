#include "tests/e2e/support/terminal.h"

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {
namespace {

constexpr int kUnableToRun = 127;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

Terminal::Terminal(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program.string()}, variables{"TERM=xterm-256color", "PATH=/usr/bin:/bin"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv = pointers(words), environment = pointers(variables);
  const winsize size{.ws_row = kRows, .ws_col = kColumns, .ws_xpixel = 0, .ws_ypixel = 0};
  pid_ = forkpty(&descriptor_, nullptr, nullptr, &size);
  if (pid_ < 0) throw std::runtime_error("forkpty failed");
  if (pid_ > 0) return;
  execve(argv[0], argv.data(), environment.data());
  _exit(kUnableToRun);
}

Terminal::~Terminal() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(descriptor_);
}

void Terminal::type(std::string_view keys) {
  if (write(descriptor_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
    throw std::runtime_error("cannot type");
}

bool Terminal::read_more() {
  pollfd waited{descriptor_, POLLIN, 0};
  const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(kWaitMax);
  if (poll(&waited, 1, static_cast<int>(most.count())) <= 0) throw std::runtime_error("the terminal shows no more:\n" + shown_);
  char text[4096];
  const ssize_t size = read(descriptor_, text, sizeof text);
  if (size > 0) shown_.append(text, static_cast<size_t>(size));
  return size > 0;
}

std::string Terminal::until(std::string_view text) {
  size_t at = 0;
  while ((at = shown_.find(text)) == shown_.npos) {
    if (!read_more()) throw std::runtime_error("it ended without \"" + std::string(text) + "\":\n" + shown_);
  }
  const std::string before = shown_.substr(0, at + text.size());
  shown_.erase(0, at + text.size());
  return before;
}

int Terminal::wait() {
  while (read_more()) {
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace slipstream::e2e
