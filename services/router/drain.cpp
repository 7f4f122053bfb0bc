#include "services/router/drain.h"

#include <fmt/format.h>

namespace slipstream {
namespace {

uint64_t finished(const RouterCounters& counters) { return counters.stopped + counters.length; }

}  // namespace

std::string told_to_stop(const RouterCounters& now, std::chrono::milliseconds grace) {
  const uint64_t answers = now.live + now.waiting;
  if (answers == 0) return "told to stop: no answer is under way";
  return fmt::format("told to stop: {}, for at most {} ms (--drain-ms)",
                     answers == 1 ? "1 answer goes on" : fmt::format("{} answers go on", answers), grace.count());
}

std::string stopped(const RouterCounters& told, const RouterCounters& now) {
  const uint64_t answers = told.live + told.waiting;
  if (answers == 0) return "stopped";
  const uint64_t whole = finished(now) - finished(told);
  return fmt::format("stopped: of the {} under way {} finished, {} failed or lost their client, {} cut", answers, whole,
                     answers - whole - now.cut, now.cut);
}

}  // namespace slipstream
