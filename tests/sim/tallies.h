// What simulations saw: how often each thing happened that they are there to provoke.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace slipstream::sim {

struct Tallies {
  uint64_t requests = 0, answered = 0, failed = 0, abandoned = 0, cut_off = 0, tokens = 0;
  uint64_t kills = 0, drained = 0, freezes = 0, separations = 0, slowdowns = 0, hangs = 0;
  uint64_t moved = 0, by_affinity = 0, stuck = 0, attaches_repeated = 0;
  uint64_t failovers = 0, resyncs = 0, parked = 0, late = 0, stale = 0, doubled = 0, lost = 0, lost_finishes = 0, fenced = 0;
  uint64_t leases_expired = 0, preempted = 0, quarantined = 0, judged = 0, accepted_nodes = 0, rejected_nodes = 0;
  void add(const Tallies& other);
  std::vector<std::pair<std::string, uint64_t>> rows() const;
};

}  // namespace slipstream::sim
