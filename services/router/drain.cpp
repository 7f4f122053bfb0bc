#include "services/router/drain.h"

#include <fmt/format.h>

namespace slipstream {
namespace {

uint64_t finished(const RouterCounters& counters) { return counters.stopped + counters.length; }
uint64_t ended_early(const RouterCounters& counters) {
  return counters.failed - counters.cut + counters.abandoned + counters.waited_too_long;
}

}  // namespace

std::string told_to_stop(uint64_t answers, std::chrono::milliseconds grace) {
  if (answers == 0) return "told to stop: no answer is under way";
  return fmt::format("told to stop: {}, for at most {} ms (--drain-ms)",
                     answers == 1 ? "1 answer goes on" : fmt::format("{} answers go on", answers), grace.count());
}

std::string stopped(const RouterCounters& told, const RouterCounters& now) {
  const uint64_t whole = finished(now) - finished(told), early = ended_early(now) - ended_early(told);
  const uint64_t answers = whole + early + now.cut;
  if (answers == 0) return "stopped";
  return fmt::format("stopped: of the {} under way {} finished, {} failed or lost their client, {} cut", answers, whole, early,
                     now.cut);
}

}  // namespace slipstream
