#include "tests/sim/tallies.h"

namespace slipstream::sim {
namespace {

struct Tally {
  const char* name;
  uint64_t Tallies::* member;
  const char* why = "";
};
constexpr Tally kTallies[] = {
    {"requests", &Tallies::requests},
    {"answered", &Tallies::answered},
    {"failed", &Tallies::failed, "fair: no verifier for longer than its router waits; all else is BROKEN"},
    {"abandoned", &Tallies::abandoned, "by their clients"},
    {"cut off", &Tallies::cut_off, "fair: the router that answered was killed, and the connection is part of it"},
    {"tokens", &Tallies::tokens},
    {"kills", &Tallies::kills},
    {"drained", &Tallies::drained},
    {"freezes", &Tallies::freezes},
    {"separations", &Tallies::separations},
    {"slowdowns", &Tallies::slowdowns},
    {"hangs", &Tallies::hangs},
    {"failovers", &Tallies::failovers},
    {"moved", &Tallies::moved},
    {"by affinity", &Tallies::by_affinity},
    {"stuck", &Tallies::stuck},
    {"attaches repeated", &Tallies::attaches_repeated},
    {"resyncs", &Tallies::resyncs},
    {"parked", &Tallies::parked},
    {"late nodes", &Tallies::late_nodes},
    {"stale nodes", &Tallies::stale_nodes},
    {"stale messages", &Tallies::stale_messages, "of verifiers to routers"},
    {"doubled", &Tallies::doubled},
    {"lost", &Tallies::lost},
    {"lost finishes", &Tallies::lost_finishes},
    {"fenced", &Tallies::fenced},
    {"leases expired", &Tallies::leases_expired},
    {"preempted", &Tallies::preempted},
    {"found in the cache", &Tallies::prefix_tokens},
    {"quarantined", &Tallies::quarantined},
    {"sampled trees", &Tallies::sampled_trees},
    {"accepted nodes", &Tallies::accepted_nodes},
    {"rejected nodes", &Tallies::rejected_nodes},
    {"verdicts", &Tallies::verdicts},
    {"features", &Tallies::features},
    {"trees of draft heads", &Tallies::head_trees},
    {"trees told to clients", &Tallies::told_trees},
};

}  // namespace

void Tallies::add(const Tallies& other) {
  for (const Tally& tally : kTallies) this->*tally.member += other.*tally.member;
}

std::vector<Tallies::Row> Tallies::rows() const {
  std::vector<Row> rows;
  for (const Tally& tally : kTallies) rows.push_back({tally.name, this->*tally.member, tally.why});
  return rows;
}

}  // namespace slipstream::sim
