#include "tests/sim/tallies.h"

namespace slipstream::sim {
namespace {

struct Row {
  const char* name;
  uint64_t Tallies::* member;
};
constexpr Row kRows[] = {
    {"requests", &Tallies::requests},
    {"answered", &Tallies::answered},
    {"failed", &Tallies::failed},
    {"abandoned", &Tallies::abandoned},
    {"cut off", &Tallies::cut_off},
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
    {"late", &Tallies::late},
    {"stale", &Tallies::stale},
    {"doubled", &Tallies::doubled},
    {"lost", &Tallies::lost},
    {"lost finishes", &Tallies::lost_finishes},
    {"fenced", &Tallies::fenced},
    {"leases expired", &Tallies::leases_expired},
    {"preempted", &Tallies::preempted},
    {"quarantined", &Tallies::quarantined},
    {"drawn trees judged", &Tallies::judged},
    {"accepted nodes", &Tallies::accepted_nodes},
    {"rejected nodes", &Tallies::rejected_nodes},
};

}  // namespace

void Tallies::add(const Tallies& other) {
  for (const Row& row : kRows) this->*row.member += other.*row.member;
}

std::vector<std::pair<std::string, uint64_t>> Tallies::rows() const {
  std::vector<std::pair<std::string, uint64_t>> rows;
  for (const Row& row : kRows) rows.emplace_back(row.name, this->*row.member);
  return rows;
}

}  // namespace slipstream::sim
