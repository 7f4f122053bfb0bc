// Notices that trees keep coming too late, which costs nobody a word and nobody sees: speculation
// then does nothing. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "common/actor/actor.h"
#include "services/verifier/counters.h"

namespace slipstream {

inline constexpr uint64_t kLateTreesWindow = 16;  // rounds that asked for a tree
inline constexpr double kLateTreesShare = 0.75;   // of them, that is worth a line
inline constexpr Time kBetweenLateLines = std::chrono::minutes(10);

class LateTrees {
 public:
  struct Tally {
    uint64_t late = 0, asked = 0;
  };
  // After each round. What to tell people: most trees of the newest window came too late, and
  // nothing was said of it lately.
  std::optional<Tally> look(const VerifierCounters& counters, Time now) {
    const Tally newest{counters.missed_deadlines - missed_,
                       counters.missed_deadlines - missed_ + counters.met_deadlines - met_};
    if (newest.asked < kLateTreesWindow) return std::nullopt;
    missed_ = counters.missed_deadlines;
    met_ = counters.met_deadlines;
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
