#include "services/drafter/drain.h"

#include <fmt/format.h>

namespace slipstream {

// The counters are those from before the drain: afterwards no sequence is live.
std::string told_to_stop(const DrafterCounters& now) {
  if (now.live == 0) return "told to stop: no sequence is here";
  return fmt::format("told to stop at once: {} without this drafter",
                     now.live == 1 ? "1 sequence goes on" : fmt::format("{} sequences go on", now.live));
}

std::string stopped(const DrafterCounters& now) {
  return fmt::format("stopped: sequences begun in this life: {}, trees sent: {}", now.sequences_begun, now.trees);
}

}  // namespace slipstream
