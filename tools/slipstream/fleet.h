// Router, verifier and drafter on one machine, under one supervisor: what `slipstream serve` is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/stop_signal.h"
#include "tools/slipstream/fleet_plan.h"
#include "tools/slipstream/supervisor.h"

namespace slipstream::command {

inline constexpr int kHangLooks = 20;  // in a row, without an answer

// Tells a process that hangs from one that is busy: it lets kHangLooks looks in a row pass. Pure.
class HangWatch {
 public:
  // Counts another look at this life of a service, which has said that it is there. Returns true,
  // once a life, if it hangs.
  bool hangs(const std::string& service, pid_t pid, bool answers) {
    Life& life = lives_[service];
    if (life.pid != pid) life = {.pid = pid};
    if (answers) life.looks = 0;
    return !answers && ++life.looks == kHangLooks;
  }

 private:
  struct Life {
    pid_t pid = -1;
    int looks = 0;  // without an answer since the last one
  };
  std::map<std::string, Life> lives_;
};

class Fleet {
 public:
  // Starts all and returns once the router's /ready says yes. Error: a sentence with the next step,
  // and the end of the log of a service that refused to start. `say` gets what the supervisor does,
  // from its thread. The stop signal ends a launch too.
  static Result<std::unique_ptr<Fleet>> launch(FleetOptions options, StopSignal& stop, Supervisor::Say say);
  ~Fleet();  // stops all, waits for all

  uint16_t http_port() const { return router_.http; }
  std::string url() const;
  const CpuSplit& cpus() const { return plan_.cpus(); }
  Supervisor& supervisor() { return supervisor_; }
  bool drafts() const { return plan_.drafts(); }
  // A look at each service: one that has let kHangLooks looks pass is killed, so that it is started
  // again, and spoken of.
  void end_who_hangs(const Supervisor::Say& say);
  bool drafter_joined() const;    // the drafter that runs now is known to the router
  std::string log_tails() const;  // the last lines of each log, for a failure's message

 private:
  Fleet(FleetPlan plan, Supervisor::Say say);
  Result<void> start(StopSignal& stop);
  Result<void> await(StopSignal& stop, std::string_view what, const std::function<bool()>& condition);
  Result<Ports> start_one(StopSignal& stop, const std::string& service, Command command);
  const RunFolder& files() const { return plan_.run_folder(); }
  bool ready() const;
  bool answers(std::string_view service, const Ports& ports) const;
  bool serves(std::string_view service, pid_t pid) const;  // this life of it: the router answers, a worker has its router

  FleetPlan plan_;
  Ports router_;
  HangWatch hangs_;
  Supervisor supervisor_;
};

}  // namespace slipstream::command
