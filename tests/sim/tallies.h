// Counts how often simulations saw each event that they are meant to provoke.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slipstream::sim {

struct Tallies {
  uint64_t requests = 0, answered = 0, failed = 0, abandoned = 0, cut_off = 0, tokens = 0;
  uint64_t kills = 0, drained = 0, freezes = 0, separations = 0, slowdowns = 0, hangs = 0;
  uint64_t moved = 0, by_affinity = 0, stuck = 0, attaches_repeated = 0;
  uint64_t failovers = 0, resyncs = 0, parked = 0, late_nodes = 0, stale_nodes = 0, stale_messages = 0, doubled = 0, lost = 0,
           lost_finishes = 0, fenced = 0;
  uint64_t leases_expired = 0, preempted = 0, prefix_tokens = 0, quarantined = 0, sampled_trees = 0, accepted_nodes = 0,
           rejected_nodes = 0, verdicts = 0, features = 0, head_trees = 0, told_trees = 0;
  void add(const Tallies& other);
  struct Row {
    std::string_view name;
    uint64_t count = 0;
    std::string_view why;  // explains a count that looks like a fault and is none; "": needs no explanation
  };
  std::vector<Row> rows() const;
};

}  // namespace slipstream::sim
