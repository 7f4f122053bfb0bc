#include "common/speculation/reading_change.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>

#include "common/base/limits.h"
#include "common/speculation/tuner.h"

namespace slipstream {
namespace {

constexpr double kSecondsSlack = 2;       // the scrapes of two pages take time themselves
constexpr double kRoundsAStepMost = 256;  // rows of a step (limits.h)
constexpr double kRounding = 1e-6;        // of printed numbers, relative

bool fine(std::initializer_list<double> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value) && value >= 0; });
}

bool fine(const NodeCounts& counts) {
  return fine({counts.verified, counts.expected, counts.accepted}) && counts.accepted <= counts.verified;
}

bool fine(const KindReading& kind) {
  const auto each = [](const NodeCounts& counts) { return fine(counts); };
  return fine({kind.in_time, kind.late, kind.answer_seconds}) && std::ranges::all_of(kind.by_survival, each) &&
         std::ranges::all_of(kind.by_depth, each);
}

bool fine(const VerifierReading& r) {
  const bool table = std::ranges::all_of(r.step_cost, [](const StepCost& cost) { return fine({cost.rows, cost.seconds}); }) &&
                     std::ranges::adjacent_find(r.step_cost, std::greater_equal{}, &StepCost::rows) == r.step_cost.end();
  return table && fine({r.steps, r.step_seconds, r.wait_seconds, r.rounds, r.tokens, r.step_overhead}) &&
         r.kinds.size() <= kTunedKindsMax && std::ranges::all_of(r.kinds, [](const KindReading& kind) { return fine(kind); });
}

bool fine(const DrafterReading& r) {
  return fine({r.jobs, r.seconds, r.asks, r.nodes}) && std::ranges::all_of(r.by_levels, [](const LevelCounts& counts) {
           return fine({counts.jobs, counts.levels, counts.seconds});
         });
}

// Subtracts, and notes what fell.
class Difference {
 public:
  double operator()(double now, double before) {
    fell_ = fell_ || now < before;
    return now - before;
  }
  NodeCounts operator()(const NodeCounts& now, const NodeCounts& before) {
    return {(*this)(now.verified, before.verified), (*this)(now.expected, before.expected),
            (*this)(now.accepted, before.accepted)};
  }
  bool fell() const { return fell_; }

 private:
  bool fell_ = false;
};

VerifierReading minus(const VerifierReading& now, const VerifierReading& before, Difference& less) {
  VerifierReading more = now;
  more.steps = less(now.steps, before.steps);
  more.step_seconds = less(now.step_seconds, before.step_seconds);
  more.wait_seconds = less(now.wait_seconds, before.wait_seconds);
  more.rounds = less(now.rounds, before.rounds);
  more.tokens = less(now.tokens, before.tokens);
  for (KindReading& kind : more.kinds) {
    const auto old = std::ranges::find(before.kinds, kind.kind, &KindReading::kind);
    if (old == before.kinds.end()) continue;  // it has come since: all of it is new
    kind.in_time = less(kind.in_time, old->in_time);
    kind.late = less(kind.late, old->late);
    for (size_t i = 0; i < kind.by_survival.size(); ++i) kind.by_survival[i] = less(kind.by_survival[i], old->by_survival[i]);
    for (size_t i = 0; i < kind.by_depth.size(); ++i) kind.by_depth[i] = less(kind.by_depth[i], old->by_depth[i]);
  }
  return more;
}

DrafterReading minus(const DrafterReading& now, const DrafterReading& before, Difference& less) {
  DrafterReading more = now;
  more.jobs = less(now.jobs, before.jobs);
  more.seconds = less(now.seconds, before.seconds);
  more.asks = less(now.asks, before.asks);
  more.nodes = less(now.nodes, before.nodes);
  for (size_t range = 0; range < more.by_levels.size(); ++range) {
    const LevelCounts &later = now.by_levels[range], &earlier = before.by_levels[range];
    more.by_levels[range] = {less(later.jobs, earlier.jobs), less(later.levels, earlier.levels),
                             less(later.seconds, earlier.seconds)};
  }
  return more;
}

bool can_be(const VerifierReading& more, double seconds) {
  return more.step_seconds + more.wait_seconds <= seconds + kSecondsSlack &&
         more.rounds <= kRoundsAStepMost * (more.steps + 1) &&
         more.tokens <= (kTreeNodesMax + 1) * (more.rounds + kRoundsAStepMost);
}

bool can_be(const DrafterReading& more, double seconds) {
  return more.seconds <= seconds * (1 + kRounding) + kSecondsSlack && more.nodes <= kTreeNodesMax * (more.asks + 1);
}

}  // namespace

bool possible(const WorkerReading& reading) {
  return std::visit([](const auto& r) { return fine(r); }, reading);
}

ReadingChange change_of(const WorkerReading& before, const WorkerReading& now) {
  Difference less;
  ReadingChange change;
  if (const auto* verifier = std::get_if<VerifierReading>(&now)) {
    change.more = minus(*verifier, std::get<VerifierReading>(before), less);
  } else {
    const auto& drafter = std::get<DrafterReading>(now);
    const auto& last = std::get<DrafterReading>(before);
    if (drafter.kind != last.kind) return {.restarted = true, .more = {}};
    change.more = minus(drafter, last, less);
  }
  if (less.fell()) return {.restarted = true, .more = {}};
  return change;
}

bool possible(const WorkerReading& more, double seconds) {
  return possible(more) && std::visit([&](const auto& r) { return can_be(r, seconds); }, more);
}

}  // namespace slipstream
