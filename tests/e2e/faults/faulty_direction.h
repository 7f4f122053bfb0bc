// One direction of one connection: what goes in comes out as it came, or never, or twice, or later,
// or after what came behind it. Pure: time and dice come from outside. Only whole messages meet
// with faults; greeting and commands pass.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "common/actor/actor.h"
#include "tests/e2e/faults/tally.h"
#include "tests/e2e/faults/zmtp_units.h"
#include "tests/sim/random_source.h"

namespace slipstream::faults {

struct Weather {  // shares of messages
  double loss = 0, duplicate = 0;
  double reorder = 0;   // held back alone, so that those behind it overtake it
  Time reorder_most{};  // for how long at most, evenly sampled; likewise a second copy
  double spike = 0;     // begin a spike: the whole direction stands still
  Time spike_lasts{};
};

class FaultyDirection {
 public:
  // weather and tally outlive it.
  FaultyDirection(const Weather& weather, Direction direction, sim::RandomSource random, Tally& tally)
      : weather_(weather), direction_(direction), random_(random), tally_(tally) {}

  void take(Unit unit, Time now);
  void release(Time now, std::vector<std::byte>& out);  // appends what is due
  std::optional<Time> next() const;                     // when something will be due
  size_t bytes() const { return bytes_; }               // held
  bool empty() const { return held_.empty(); }
  // The connection is cut: of what was to come next, only the first half.
  void cut(std::vector<std::byte>& out);
  void drop();  // all that is held: nobody is left to take it

 private:
  struct Held {
    Unit unit;
    uint64_t number = 0;  // of its coming
    bool copy = false;
  };
  void hold(Time due, Held held);
  Counts* counts_of(const Unit& unit);

  const Weather& weather_;
  const Direction direction_;
  sim::RandomSource random_;
  Tally& tally_;
  std::multimap<Time, Held> held_;  // by when it is due; equal ones in the order of their coming
  size_t bytes_ = 0;
  Time spike_ends_{};
  uint64_t taken_ = 0, newest_released_ = 0;
};

}  // namespace slipstream::faults
