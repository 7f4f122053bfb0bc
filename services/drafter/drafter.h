// The drafter's actor. It follows the sequences of its verifiers through their Advances, and
// answers an Advance that asks for a tree with a Tree, or with a Resync if tokens are missing.
//
// It decides nothing about how far to guess: the Tuning of each Advance does. It holds the fence of
// each sequence (epoch, round, length, prefix hash); the tokens and the method's state are with the
// Method, which draft jobs use.
#pragma once

#include <memory>
#include <vector>

#include "services/drafter/counters.h"
#include "services/drafter/events.h"

namespace slipstream {

inline constexpr Time kLeaseSweepInterval = std::chrono::seconds(5);  // how often silent sequences are looked for

// An Actor (actor/actor.h). Not thread-safe.
class Drafter {
 public:
  using Event = DrafterEvent;
  using Effect = DrafterEffect;

  explicit Drafter(DrafterConfig config);
  ~Drafter();
  void on(Event event, Time now, std::vector<Effect>& effects);
  const DrafterCounters& counters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace slipstream
