// Keeps processes alive: starts each again when it dies, after a pause that doubles while it keeps
// dying, and says so: why it died, as far as its log tells, and that it is back once it is ready. A
// line in its log says how each life ended. All its children are started, watched and reaped by one
// thread of its own, so none outlives it (process.h). Thread-safe.
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

namespace slipstream::command {

inline constexpr std::chrono::milliseconds kRestartPauseMin{200};
inline constexpr std::chrono::milliseconds kRestartPauseMax{5000};
inline constexpr std::chrono::seconds kLongLife{10};  // a process that lived so long starts again after the shortest pause
inline constexpr std::chrono::milliseconds kReadyLook{100};  // between two looks whether who was started again is ready
inline constexpr std::chrono::seconds kReadyLong{30};        // who takes longer is spoken of, once
inline constexpr std::chrono::seconds kStopGrace{5};         // between SIGTERM and SIGKILL

class Supervisor {
 public:
  using Say = std::function<void(std::string_view line)>;  // from the supervisor's thread
  using Ready = std::function<bool(pid_t pid)>;            // likewise, of a life after the first; it should not take long

  struct Life {
    pid_t pid = -1;  // -1: not running now
    int starts = 0;
    std::optional<Exit> last;  // how the life before this one ended
    std::string why;           // what is known of the cause; "": nothing
  };

  explicit Supervisor(Say say);
  ~Supervisor();  // stop()

  // Returns when the process runs. Error: it cannot be run at all; then it is not supervised
  // either. No `ready`: who runs, is.
  Result<void> start(std::string name, Command command, Ready ready = {});
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
    Ready ready;
    bool returning = false, late = false;  // started again and not known to be ready; that it takes long was said
    uintmax_t log_begin = 0;               // where the log of this life begins
    Clock::time_point started, restart_at;
    std::chrono::milliseconds pause = kRestartPauseMin;
    int starts = 0;
    std::optional<Exit> last;
    std::string why;
    std::optional<Error> refused;  // its first start failed
  };
  struct Returning {
    std::string name;
    pid_t pid;
    Ready ready;
  };

  void run();
  std::vector<std::string> tend();  // starts, reaps; what there is to say. Under the mutex
  void begin(Service& service, std::vector<std::string>& lines);
  std::string bury(Service& service, Exit exit);
  std::vector<Returning> returning() const;
  void welcome(const std::vector<Returning>& asked);  // says of each that it is back, if it is. Without the mutex
  Clock::time_point next_look() const;
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
