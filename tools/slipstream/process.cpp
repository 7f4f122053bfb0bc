#include "tools/slipstream/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

namespace slipstream::command {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

// This process's environment, with the settings of `own` replacing those of the same name.
std::vector<std::string> environment_with(std::vector<std::string> own) {
  const size_t count = own.size();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('=') + 1);
    const auto last = own.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::none_of(own.begin(), last, [&](const std::string& setting) { return setting.starts_with(name); }))
      own.emplace_back(*entry);
  }
  return own;
}

// The process that started this one may ignore SIGCHLD (`trap '' CHLD`), and children inherit that.
// The kernel would then reap our children, and their exit status would be lost.
void reap_children_ourselves() {
  struct sigaction now{};
  sigaction(SIGCHLD, nullptr, &now);
  if (now.sa_handler == SIG_IGN || (now.sa_flags & SA_NOCLDWAIT) != 0) ::signal(SIGCHLD, SIG_DFL);
}

// Runs in the child after fork(), where only async-signal-safe calls are allowed. Never returns: it
// executes the program, or writes errno to `report`.
[[noreturn]] void become(const char* program, char** arguments, char** environment, int log, pid_t parent, int report) {
  setpgid(0, 0);  // Ctrl-C then reaches the supervisor only, which stops its children in order
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before prctl()
  // A mask and ignored signals survive exec: the child must not inherit this process's
  // (base/stop_signal.h).
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execve(program, arguments, environment);
  const int error = errno;
  (void)!write(report, &error, sizeof error);
  _exit(127);
}

}  // namespace

std::string Exit::words() const {
  if (status == kStatusUnknown) return "ended, and somebody else was told how";
  if (signal != 0) return fmt::format("was killed by signal {} ({})", signal, strsignal(signal));
  return fmt::format("exited with status {}", status);
}

Result<Process> Process::start(const Command& command) {
  const int log = open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) return fail_for_now("cannot write the log {}: {}", command.log.string(), strerror(errno));
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    close(log);
    return fail_for_now("cannot start {}: {}", command.program.string(), strerror(errno));
  }
  std::vector<std::string> words{command.program.string()};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<char*> arguments = pointers(words);
  std::vector<std::string> settings = environment_with(command.environment);
  std::vector<char*> environment = pointers(settings);

  // The report pipe closes on exec. Reading nothing therefore means success; reading an int means
  // that exec failed.
  reap_children_ourselves();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(command.program.c_str(), arguments.data(), environment.data(), log, parent, report[1]);
  const int fork_error = errno;
  close(log);
  close(report[1]);
  int error = pid < 0 ? fork_error : 0;
  if (pid > 0 && read(report[0], &error, sizeof error) != sizeof error) error = 0;  // closed by a successful exec
  close(report[0]);
  if (error != 0) {
    if (pid < 0) return fail_for_now("cannot run {}: {}", command.program.string(), strerror(error));
    waitpid(pid, nullptr, 0);
    return fail("cannot run {}: {}", command.program.string(), strerror(error));
  }
  // Called directly, since glibc 2.36 declares pidfd_open() without extern "C".
  return Process(pid, static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      exit_(std::exchange(other.exit_, {})) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    finish();
    pid_ = std::exchange(other.pid_, -1);
    descriptor_ = std::exchange(other.descriptor_, -1);
    exit_ = std::exchange(other.exit_, {});
  }
  return *this;
}

Process::~Process() { finish(); }

void Process::finish() {
  if (pid_ > 0 && !exit_) {
    signal(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (descriptor_ >= 0) close(descriptor_);
}

// Signals by pidfd: if other code reaped the child, its pid may belong to another process by now.
void Process::signal(int number) const {
  if (pid_ <= 0 || exit_) return;
  if (descriptor_ < 0) {
    kill(pid_, number);
  } else {
    syscall(SYS_pidfd_send_signal, descriptor_, number, nullptr, 0);
  }
}

std::optional<Exit> Process::ended() {
  if (exit_ || pid_ <= 0) return exit_;
  int status = 0;
  const pid_t reaped = waitpid(pid_, &status, WNOHANG);
  if (reaped == pid_) {
    exit_ = WIFSIGNALED(status) ? Exit{0, WTERMSIG(status)} : Exit{WEXITSTATUS(status), 0};
  } else if (reaped < 0 && errno == ECHILD) {  // other code reaped the child
    exit_ = Exit{kStatusUnknown, 0};
  }
  return exit_;
}

std::optional<Exit> Process::wait(std::chrono::milliseconds at_most) {
  if (auto exit = ended()) return exit;
  pollfd wanted{descriptor_, POLLIN, 0};
  poll(&wanted, 1, static_cast<int>(at_most.count()));
  return ended();
}

}  // namespace slipstream::command
