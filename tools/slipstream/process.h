// One child process in its own process group, with its output in a log file. It is never left
// behind: the kernel kills it when the thread that started it dies, and the destructor kills and
// reaps it. REQUIRES: the thread that calls start() lives as long as the process shall.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace slipstream::command {

struct Command {
  std::filesystem::path program;
  std::vector<std::string> arguments;    // without the program's own name
  std::vector<std::string> environment;  // NAME=value, added to this process's own
  std::filesystem::path log;             // standard output and error are appended here
  bool json = false;                     // the lines of its log are JSON
};

inline constexpr int kStatusUnknown = -1;  // it ended, but other code reaped it

// How a process ended.
struct Exit {
  int status = 0;  // exit status, or kStatusUnknown; meaningless if `signal` is not 0
  int signal = 0;
  std::string words() const;  // "exited with status 2", "was killed by signal 9 (Killed)"
};

class Process {
 public:
  // Error: the log cannot be written, or the program cannot be run.
  static Result<Process> start(const Command& command);
  ~Process();  // sends SIGKILL and reaps
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;

  pid_t pid() const { return pid_; }
  int descriptor() const { return descriptor_; }  // a pidfd: readable once the process has ended
  void signal(int number) const;                  // does nothing if the process has ended
  std::optional<Exit> ended();                    // reaps; repeats its answer afterwards
  // Waits for the end, but no longer than `at_most`. nullopt: it still runs.
  std::optional<Exit> wait(std::chrono::milliseconds at_most);

 private:
  Process(pid_t pid, int descriptor) : pid_(pid), descriptor_(descriptor) {}
  void finish();
  pid_t pid_ = -1;
  int descriptor_ = -1;
  std::optional<Exit> exit_;
};

}  // namespace slipstream::command
