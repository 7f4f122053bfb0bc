// Notices that most trees come too late. Speculation then gains nothing, and no answer shows it, so
// the verifier logs a warning. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "common/actor/actor.h"
#include "services/verifier/counters.h"

namespace slipstream {

inline constexpr uint64_t kLateTreesWindow = 16;  // rounds that asked for a tree
inline constexpr double kLateTreesShare = 0.75;   // of the window's trees: if at least this share was late, a warning is due
inline constexpr Time kBetweenLateLines = std::chrono::minutes(10);

class LateTrees {
 public:
  struct Tally {
    uint64_t late = 0, asked = 0;
  };
  // Call it after each round. Returns the newest window if a warning is due: at least
  // kLateTreesShare of its trees were late, and there was no warning for kBetweenLateLines.
  std::optional<Tally> look(const VerifierCounters& counters, Time now) {
    const Tally newest{counters.missed_deadlines() - missed_,
                       counters.missed_deadlines() - missed_ + counters.met_deadlines() - met_};
    if (newest.asked < kLateTreesWindow) return std::nullopt;
    missed_ = counters.missed_deadlines();
    met_ = counters.met_deadlines();
    const bool many = static_cast<double>(newest.late) >= kLateTreesShare * static_cast<double>(newest.asked);
    if (!many || (said_ && now < *said_ + kBetweenLateLines)) return std::nullopt;
    said_ = now;
    return newest;
  }

 private:
  uint64_t missed_ = 0, met_ = 0;  // when the window began
  std::optional<Time> said_;
};

}  // namespace slipstream
