// Runs a router, a verifier and a drafter on one machine under one supervisor, as `slipstream
// serve` does.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/stop_signal.h"
#include "common/http/client.h"
#include "tools/slipstream/fleet_plan.h"
#include "tools/slipstream/supervisor.h"

namespace slipstream::command {

inline constexpr int kHangLooks = 20;  // in a row, of which each finds it stuck

// Tells a process that hangs from one that is busy: a process hangs once kHangLooks looks in a row
// have found it stuck. Pure.
class HangWatch {
 public:
  // Records one look at process `pid` of a service that has finished starting. Returns true, once
  // for each process, if it hangs.
  bool hangs(const std::string& service, pid_t pid, bool gets_on) {
    Life& life = lives_[service];
    if (life.pid != pid) life = {.pid = pid};
    if (gets_on) life.looks = 0;
    return !gets_on && ++life.looks == kHangLooks;
  }

 private:
  struct Life {
    pid_t pid = -1;
    int looks = 0;  // in a row that found it stuck
  };
  std::map<std::string, Life> lives_;
};

class Fleet {
 public:
  // Starts all services and returns once the router's /ready answers yes. Error: a sentence with
  // the next step, and the end of the log of a service that failed to start. The supervisor's
  // thread calls `say` with each event. The stop signal also ends a launch.
  static Result<std::unique_ptr<Fleet>> launch(FleetOptions options, StopSignal& stop, Supervisor::Say say);
  ~Fleet();  // stops all services and waits for them

  uint16_t http_port() const { return router_.http; }
  // Of a service's HTTP server: the router's API, or a worker's page.
  http::Client client(std::string_view service, const Ports& ports, std::chrono::milliseconds at_most) const;
  std::string url() const;
  const CpuSplit& cpus() const { return plan_.cpus(); }
  // What the verifier measured of its steps, a sentence; "" if its log level leaves it out.
  std::string steps() const;
  Supervisor& supervisor() { return supervisor_; }
  bool drafts() const { return plan_.drafts(); }
  // Looks at each service once. Kills a service that hangs, so that the supervisor restarts it, and
  // reports it to `say`.
  void end_who_hangs(const Supervisor::Say& say);
  bool drafter_joined() const;  // the router knows the drafter that runs now
  // Ends the router, which first lets the answers under way end, for drain() at most, and takes no
  // more. The workers go on.
  void finish_answers();
  std::chrono::milliseconds drain() const { return plan_.drain(); }
  std::string log_tails() const;  // the last lines of each log, for an error message

 private:
  Fleet(FleetPlan plan, Supervisor::Say say);
  Result<void> start(StopSignal& stop);
  Result<void> await(StopSignal& stop, std::string_view what, const std::function<bool()>& condition);
  Result<Ports> start_one(StopSignal& stop, const std::string& service, Command command);
  const RunFolder& files() const { return plan_.run_folder(); }
  bool ready() const;
  std::string why_stuck(std::string_view service, const Ports& ports) const;  // as one look finds it; "": it is not
  // Whether process `pid` of the service serves: the router answers HTTP requests; a worker has
  // joined the router.
  bool serves(std::string_view service, pid_t pid) const;

  FleetPlan plan_;
  Ports router_;
  HangWatch hangs_;
  Supervisor supervisor_;
};

}  // namespace slipstream::command
