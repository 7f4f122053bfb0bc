// The drafter's actor: learns all it knows of a sequence from its verifier, answers each Advance
// that asks for one with a Tree, and keeps no policy of its own. It tracks fences (who holds how
// many tokens of what); the method's state lives with the compute job.
#pragma once

#include <memory>
#include <vector>

#include "services/drafter/counters.h"
#include "services/drafter/events.h"

namespace slipstream {

inline constexpr Time kLeaseSweepInterval = std::chrono::seconds(5);
inline constexpr int64_t kDrafterTokensMax = 2 * 1024 * 1024;  // of all sequences: at most 256 MB of n-gram index

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
