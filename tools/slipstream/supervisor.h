// Keeps processes alive. It restarts each that dies, after a pause that doubles while the process
// keeps dying, and reports why it died, as far as the log tells, when it is ready again, and what
// it warns of. A line in the service's log says how each life ended.
//
// One thread of the supervisor starts, watches and reaps all children, so that none outlives it
// (process.h). Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/base/result.h"
#include "tools/slipstream/process.h"
#include "tools/slipstream/service_log.h"

namespace slipstream::command {

inline constexpr std::chrono::milliseconds kRestartPauseMin{200};
inline constexpr std::chrono::milliseconds kRestartPauseMax{5000};
// A process that lived at least this long is restarted after the shortest pause.
inline constexpr std::chrono::seconds kLongLife{10};
inline constexpr std::chrono::milliseconds kReadyLook{100};  // how often it asks whether a restarted process is ready
inline constexpr std::chrono::seconds kReadyLong{30};        // a restarted process that takes longer is reported, once
inline constexpr std::chrono::seconds kStopGrace{5};         // between SIGTERM and SIGKILL

class Supervisor {
 public:
  using Say = std::function<void(std::string_view line)>;  // called in the supervisor's thread
  // Called in the supervisor's thread, for restarted processes only. It must return soon.
  using Ready = std::function<bool(pid_t pid)>;

  struct Life {
    pid_t pid = -1;  // -1: not running
    int starts = 0;
    std::optional<Exit> last;  // how the previous life ended
    std::string why;           // the known cause of that end; "": none
  };

  explicit Supervisor(Say say);
  ~Supervisor();  // calls stop()

  // Returns when the process runs. Error: it cannot be run at all; it is then not supervised.
  // Without `ready`, a process counts as ready when it runs.
  Result<void> start(std::string name, Command command, Ready ready = {});
  void restart_nobody() { restarts_ = false; }             // a process that dies stays dead: for the start of the fleet
  void restart_all() { restarts_ = true; }                 // restarts resume, as at construction
  void next_life(std::string_view name, Command command);  // command for the next restart
  Life life(std::string_view name) const;
  void signal(std::string_view name, int number);  // does nothing if it does not run
  // Sends SIGTERM to it, and does not restart it when it ends.
  void retire(std::string_view name);
  // Returns true once it does not run, or false after `at_most`.
  bool await_end(std::string_view name, std::chrono::milliseconds at_most);
  // Sends SIGTERM to all in reverse order of start, SIGKILL after kStopGrace to those that still
  // run, and waits for all.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Service {
    std::string name;
    Command command;
    std::optional<Process> process;
    Ready ready;
    // returning: restarted and not yet known to be ready. late: the report that this takes long has
    // been made.
    bool returning = false, late = false;
    bool retired = false;
    uintmax_t log_begin = 0;  // offset in the log, in bytes, at which this life began
    LogWarnings warnings;     // of this life
    Clock::time_point started, restart_at;
    std::chrono::milliseconds pause = kRestartPauseMin;
    int starts = 0;
    std::optional<Exit> last;
    std::string why;
    std::optional<Error> refused;  // why its first start failed
  };
  struct Returning {
    std::string name;
    pid_t pid;
    Ready ready;
  };

  void run();
  // Reaps and restarts processes; returns the lines to report. The caller holds mutex_.
  std::vector<std::string> tend();
  void begin(Service& service, std::vector<std::string>& lines);
  std::string on_exit(Service& service, Exit exit);  // "": nothing to report
  std::vector<Returning> returning() const;
  // Asks each whether it is ready and reports it. The caller does not hold mutex_, since `ready`
  // may be slow.
  void welcome(const std::vector<Returning>& asked);
  Clock::time_point next_look() const;
  void end_all();
  void nudge();
  Service* find(std::string_view name);
  const Service* find(std::string_view name) const { return const_cast<Supervisor*>(this)->find(name); }

  Say say_;
  int nudge_;  // an eventfd that wakes the thread
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // a process has started or ended, or stopping_
  std::vector<Service> services_;    // guarded by mutex_
  bool stopping_ = false;            // guarded by mutex_
  std::atomic<bool> restarts_ = true;
  std::jthread thread_;  // last member: it starts when all others exist
};

}  // namespace slipstream::command
