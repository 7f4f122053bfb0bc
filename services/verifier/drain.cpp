#include "services/verifier/drain.h"

#include <fmt/format.h>

namespace slipstream {

std::string told_to_stop(const VerifierCounters& now, std::chrono::milliseconds grace) {
  if (now.live == 0) return "told to stop: no sequence is here";
  return fmt::format("told to stop: {} until another verifier has it, for at most {} ms (--drain-ms)",
                     now.live == 1 ? "1 sequence goes on" : fmt::format("each of {} sequences goes on", now.live),
                     grace.count());
}

// A router that places a sequence elsewhere cancels it here.
std::string stopped(const VerifierCounters& told, const VerifierCounters& now) {
  if (told.live == 0) return "stopped";
  const uint64_t finished = now.sequences_delivered - told.sequences_delivered;
  return fmt::format("stopped: of {} here {} finished, {} handed over or given up by their routers, {} cut", told.live,
                     finished, told.live - finished - now.live, now.live);
}

}  // namespace slipstream
