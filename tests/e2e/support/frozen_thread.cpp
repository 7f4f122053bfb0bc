#include "tests/e2e/support/frozen_thread.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace slipstream::e2e {
namespace {

pid_t thread_called(pid_t pid, std::string_view name) {
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid))) {
    std::string found;
    std::getline(std::ifstream(task.path() / "comm"), found);
    if (found == name) return std::stoi(task.path().filename());
  }
  throw std::runtime_error(fmt::format("process {} has no thread that is called {}", pid, name));
}

}  // namespace

std::optional<FrozenThread> FrozenThread::of(pid_t pid, std::string_view name) {
  const pid_t thread = thread_called(pid, name);
  if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
    if (errno == EPERM) return std::nullopt;
    throw std::runtime_error(fmt::format("cannot trace thread {}: errno {}", thread, errno));
  }
  FrozenThread frozen(thread);
  if (::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0 || ::waitpid(thread, nullptr, __WALL) != thread) {
    throw std::runtime_error(fmt::format("cannot stop thread {}: errno {}", thread, errno));
  }
  return frozen;
}

FrozenThread::FrozenThread(FrozenThread&& from) noexcept : thread_(std::exchange(from.thread_, 0)) {}

FrozenThread::~FrozenThread() {
  if (thread_ == 0 || ::ptrace(PTRACE_DETACH, thread_, nullptr, nullptr) == 0) return;
  ::waitpid(thread_, nullptr, __WALL);  // it was killed: its process ends when we have heard of it
}

}  // namespace slipstream::e2e
