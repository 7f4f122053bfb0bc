// How the CPUs of one machine are shared out. Compute threads beyond the cores are the one thing that must not happen: two
// processes with two spinning threads each ran nine times slower on two cores (docs/ARCHITECTURE.md).
#pragma once

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace slipstream::command {

struct Division {
  int cpus = 1;
  int verifier_threads = 1;
  int drafter_threads = 0;  // 0: it computes nothing to speak of

  // Look-up drafting and the router take microseconds between the verifier's steps, so up to kSharedCpusMax the verifier
  // computes on every core; above, one core is left to them.
  static constexpr int kSharedCpusMax = 2;
  static Division of(int cpus) { return {cpus, std::max(1, cpus > kSharedCpusMax ? cpus - 1 : cpus)}; }
  // A draft model computes as the target does, and while the target waits: half of the cores each.
  static Division with_draft_model(int cpus) { return {cpus, std::max(1, cpus - cpus / 2), std::max(1, cpus / 2)}; }

  std::string words() const {
    if (verifier_threads + drafter_threads > cpus) {
      return fmt::format(
          "{} CPU: verifier and drafter share it, so that most trees will come too late; give them two (--threads)", cpus);
    }
    if (drafter_threads > 0) {
      return fmt::format("{} CPUs: the verifier computes on {}, the drafter on {}", cpus, verifier_threads, drafter_threads);
    }
    const int left = cpus - verifier_threads;
    return fmt::format("{} CPU{}: the verifier computes on {}; router and drafter {}", cpus, cpus == 1 ? "" : "s",
                       verifier_threads, left > 0 ? fmt::format("share {}", left) : "work between its steps");
  }
};

}  // namespace slipstream::command
