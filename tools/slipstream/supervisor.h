// Keeps processes alive: starts each again when it dies, after a pause that doubles while it keeps dying, and says so. All its
// children are started, watched and reaped by one thread of its own, so none outlives it (process.h). Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/base/result.h"
#include "tools/slipstream/process.h"

namespace slipstream::command {

inline constexpr std::chrono::milliseconds kRestartPauseMin{200};
inline constexpr std::chrono::milliseconds kRestartPauseMax{5000};
inline constexpr std::chrono::seconds kLongLife{10};  // a process that lived so long starts again after the shortest pause
inline constexpr std::chrono::seconds kStopGrace{5};  // between SIGTERM and SIGKILL

class Supervisor {
 public:
  using Say = std::function<void(std::string_view line)>;  // from the supervisor's thread

  struct Life {
    pid_t pid = -1;  // -1: not running now
    int starts = 0;
    std::optional<Exit> last;  // how the life before this one ended
  };

  explicit Supervisor(Say say);
  ~Supervisor();  // stop()

  // Returns when the process runs. Error: it cannot be run at all; then it is not supervised either.
  Result<void> start(std::string name, Command command);
  void restart_nobody() { restarts_ = false; }             // who dies stays so: while the whole is being started
  void restart_all() { restarts_ = true; }                 // as at first
  void next_life(std::string_view name, Command command);  // what to start it with when it dies
  Life life(std::string_view name) const;
  void signal(std::string_view name, int number);
  void stop();  // SIGTERM to all in reverse order of start, SIGKILL to those that do not end in kStopGrace; waits for all

 private:
  using Clock = std::chrono::steady_clock;
  struct Service {
    std::string name;
    Command command;
    std::optional<Process> process;
    Clock::time_point started, restart_at;
    std::chrono::milliseconds pause = kRestartPauseMin;
    int starts = 0;
    std::optional<Exit> last;
    std::optional<Error> refused;  // its first start failed
  };

  void run();
  std::vector<std::string> tend();  // starts, reaps; what there is to say. Under the mutex
  std::string bury(Service& service, Exit exit);
  Clock::time_point next_restart() const;
  void end_all();
  void nudge();
  Service* find(std::string_view name);
  const Service* find(std::string_view name) const { return const_cast<Supervisor*>(this)->find(name); }

  Say say_;
  int nudge_;  // an eventfd: the thread has something to look at
  mutable std::mutex mutex_;
  std::condition_variable started_;
  std::vector<Service> services_;  // under the mutex
  bool stopping_ = false;          // under the mutex
  std::atomic<bool> restarts_ = true;
  std::jthread thread_;  // last: starts when all else stands
};

}  // namespace slipstream::command
