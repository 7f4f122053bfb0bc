// What `slipstream serve` starts: the options of a fleet, how it divides the CPUs, and the command
// line of each service. Nothing here starts a process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/base/names.h"
#include "common/base/result.h"
#include "common/config/settings.h"
#include "tools/slipstream/process.h"
#include "tools/slipstream/run_folder.h"

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

// How the CPUs of one machine are shared out. Compute threads beyond the cores are the one thing
// that must not happen: two processes with two spinning threads each ran nine times slower on two
// cores (docs/design/ARCHITECTURE.md).
struct CpuSplit {
  int cpus = 1;
  int verifier_threads = 1;
  int drafter_threads = 0;  // 0: it computes nothing to speak of

  // Look-up drafting and the router take microseconds between the verifier's steps, so up to
  // kSharedCpusMax the verifier computes on every core; above, one core is left to them.
  static constexpr int kSharedCpusMax = 2;
  static CpuSplit of(int cpus) { return {cpus, std::max(1, cpus > kSharedCpusMax ? cpus - 1 : cpus)}; }
  // A draft model computes as the target does, and while the target waits: half of the cores each.
  static CpuSplit with_draft_model(int cpus) { return {cpus, std::max(1, cpus - cpus / 2), std::max(1, cpus / 2)}; }

  std::string words() const;  // for a person
};

// The model folder as given, or where the build tree that made this program keeps it. Error: what
// is missing, and the next step.
Result<std::filesystem::path> find_model(const std::filesystem::path& model);

std::filesystem::path this_program();

// What is asked for, or what a method needs: the tree of a draft model is some forward passes,
// look-up takes microseconds.
uint32_t deadline_of(const FleetOptions& options);
// The router's flags that are about speculation.
std::vector<std::string> router_flags(const FleetOptions& options);
// Says which drafter runs, how long a step waits for it, and that its probabilities are trusted.
std::string drafting_words(const FleetOptions& options);

class FleetPlan {
 public:
  // Finds the services' programs: beside this one (an installation's bin/), or in the build tree
  // that made it. Error: names the one that is missing and how to build it.
  static Result<FleetPlan> make(FleetOptions options);

  const CpuSplit& cpus() const { return cpus_; }
  const RunFolder& run_folder() const { return run_folder_; }
  bool drafts() const { return options_.drafter != kNoDrafter; }

  // `ports`: those of its life before, which it binds again; none: any free ones.
  Command router(const Ports& ports) const;
  // `router`: where it is to be found.
  Command verifier(const Ports& router) const;
  Command drafter(const Ports& router) const;

 private:
  FleetPlan(FleetOptions options, CpuSplit cpus);
  Command worker(std::string_view service, const std::filesystem::path& program, const Ports& router) const;
  void add_keys(std::string_view service, Command& command) const;

  FleetOptions options_;
  CpuSplit cpus_;
  RunFolder run_folder_;
  std::filesystem::path router_program_, verifier_program_, drafter_program_;
};

}  // namespace slipstream::command
