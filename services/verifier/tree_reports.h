// Reports of draft trees for clients that ask for them (messages/tree_report.h): one is made of
// each round that had a guess, and kept until its router has it or newer ones take its place. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/messages/tree_report.h"
#include "common/speculation/walk.h"

namespace slipstream {

// What one source of a round's draft guessed. The survivals are chances to be accepted.
struct Proposal {
  Proposer by;
  TokenTree tree;
};

// What a step made of the round.
struct VerifiedRound {
  int32_t first_index = 0;  // output index of the first token
  const TokenTree& tree;    // as it was verified, perhaps cut
  const Walk& walk;
  int emitted = 0;  // of walk.emitted, at least 1
};

// proposals: in the order in which a node is credited to those that guessed it. Nodes of theirs
// that the verified tree does not have are reported as trimmed, as far as there is room for them. A
// node that none of them has is that of the first.
TreeReport tree_report(const VerifiedRound& round, std::span<const Proposal> proposals);

// The newest reports of one sequence that its router does not have yet.
class TreeReports {
 public:
  void add(TreeReport report, int32_t most);  // most: reports kept
  // Of the rounds that began in [from, end).
  std::vector<TreeReport> of(int32_t from, int32_t end) const;
  void acked(int32_t next);  // the router has all before output index `next`

 private:
  std::vector<TreeReport> kept_;  // ascending by first_index
};

}  // namespace slipstream
