// Router, verifier and drafter on one machine, under one supervisor: what `slipstream serve` is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/names.h"
#include "common/base/result.h"
#include "common/base/stop_signal.h"
#include "common/config/settings.h"
#include "tools/slipstream/division.h"
#include "tools/slipstream/hang_watch.h"
#include "tools/slipstream/ports.h"
#include "tools/slipstream/service_programs.h"
#include "tools/slipstream/supervisor.h"

namespace slipstream::command {

inline constexpr std::string_view kNoDrafter = "none";

struct FleetOptions {
  std::filesystem::path model = kDefaultModel;
  std::string drafter = "ngram";              // or kSmallLm or kNoDrafter
  std::filesystem::path draft_model;          // kSmallLm: its folder; empty: the target drafts for itself
  std::string weights = "file";               // of verifier and draft model, as their --weights
  std::optional<uint32_t> deadline_us;        // that a step waits for a tree at most; none: see deadline_of()
  std::optional<uint32_t> wait_percent;       // of the time computed that such waits may cost; none: the verifier's own
  uint16_t port = 8080;                       // of the HTTP API; 0: any free one
  int cpus = 0;                               // to divide; 0: this process's quota
  std::filesystem::path run_folder = ".run";  // logs/ and ports/ are in there
  std::string rules;                          // that clients may choose, as the router's --rules; empty: its own default
  std::filesystem::path keys;                 // router.key, verifier.key, drafter.key, peers/; empty: none
  std::string name = "serve";                 // tells this fleet's logs from another's
};

// What is asked for, or what a method needs: the tree of a draft model is some forward passes, look-up takes microseconds.
uint32_t deadline_of(const FleetOptions& options);
// What the router is told of speculation.
std::vector<std::string> router_flags(const FleetOptions& options);
// Who guesses, how long he is waited for, and what he is believed.
std::string drafting_words(const FleetOptions& options);

class Fleet {
 public:
  // Starts all and returns once the router's /ready says yes. Error: a sentence with the next step, and the end of the log of a
  // service that refused to start. `say` gets what the supervisor does, from its thread. The stop signal ends a launch too.
  static Result<std::unique_ptr<Fleet>> launch(FleetOptions options, StopSignal& stop, Supervisor::Say say);
  ~Fleet();  // stops all, waits for all

  uint16_t http_port() const { return router_.http; }
  std::string url() const;
  const Division& division() const { return division_; }
  Supervisor& supervisor() { return supervisor_; }
  std::filesystem::path log(std::string_view service) const;
  bool drafts() const { return options_.drafter != kNoDrafter; }
  // A look at each service: one that has let kHangLooks looks pass is killed, so that it is started again, and spoken of.
  void end_who_hangs(const Supervisor::Say& say);
  bool drafter_joined() const;    // the drafter that runs now is known to the router
  std::string log_tails() const;  // the last lines of each log, for a failure's message

 private:
  Fleet(FleetOptions options, ServicePrograms programs, Supervisor::Say say);
  Result<void> start(StopSignal& stop);
  Result<void> await(StopSignal& stop, std::string_view what, const std::function<bool()>& condition);
  Result<Ports> start_one(StopSignal& stop, const std::string& service, Command command);
  Command command(std::string_view service, const std::filesystem::path& program) const;
  Command router_command(const Ports& ports) const;
  void add_keys(std::string_view service, Command& command) const;
  std::filesystem::path port_file(std::string_view service) const;
  bool ready() const;
  bool answers(std::string_view service, const Ports& ports) const;
  bool serves(std::string_view service, pid_t pid) const;  // this life of it: the router answers, a worker has its router

  FleetOptions options_;
  ServicePrograms programs_;
  Division division_;
  Ports router_;
  HangWatch hangs_;
  Supervisor supervisor_;
};

}  // namespace slipstream::command
