// The product's drafter, but its trees leave at a chosen moment of the round: `offset` after the
// deadline that came with the Advance, or before it if negative. Everything else goes its way at
// once.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "services/drafter/drafter.h"

namespace slipstream {

class DelayedDrafter {
 public:
  using Event = DrafterEvent;
  using Effect = DrafterEffect;

  DelayedDrafter(DrafterConfig config, Time offset) : inner_(std::move(config)), offset_(offset) {}
  void on(Event event, Time now, std::vector<Effect>& effects);
  const DrafterCounters& counters() const { return inner_.counters(); }

 private:
  void hold(Effect effect, Time now, std::vector<Effect>& effects);

  Drafter inner_;
  Time offset_;
  std::map<std::pair<Peer, SequenceId>, Time> due_;  // of the newest Advance that asked
  std::multimap<Time, To<Tree>> waiting_;
  std::optional<Time> inner_alarm_;
};

}  // namespace slipstream
