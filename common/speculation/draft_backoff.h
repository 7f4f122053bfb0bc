// Limits how many nodes one sequence may ask for: promise 2, "never slower for long". It is one of
// the three bounds on a draft (docs/design/SCHEDULER.md, "Three bounds on a draft"). It counts
// steps; waiting time is the business of wait_budget.h.
//
//   start     kFirstNodes nodes, which cost a step next to nothing; 1 for a drafter beside others
//   account   kBalanceFirst tokens; each verified tree adds the tokens that it won and takes what
//             its rows cost (its nodes times their price), up to kBalanceMost
//   success   a node accepted, and the account is not overdrawn: draft again at once, halve the
//             gap; 1/kGrowthShare of the tree accepted: double the nodes
//   failure   the tree was late, the account is overdrawn, or kFruitlessMost verified trees in a
//             row brought nothing: from kFailuresBeforeBackoff in a row on, plain steps before the
//             next draft, 4, 8, ... kProbeGapSteps
//   nothing   of a verified tree was accepted: halve the nodes
//   empty     an on-time tree of which no node is verified is no failure; after every
//             kEmptiesBeforeBackoff in a row: plain steps before the next draft, 1, 2, ...
//             kEmptyGapSteps, until a node is accepted
//   budget    never more nodes than pay for themselves (engine/row_budget.h); where none pays,
//             drafts are probes of one node, and when one is due is its caller's business
//
// A success halves the gap instead of clearing it. So a drafter that is right only now and then
// stays rare, and one that has become good is back after a few steps. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/limits.h"

namespace slipstream {

inline constexpr int kFirstNodes = 3;
inline constexpr int kFailuresBeforeBackoff = 2;  // failures in a row
inline constexpr int kFirstGapSteps = 4;          // plain steps between two drafts, at first
inline constexpr int kProbeGapSteps = 64;         // plain steps between two drafts, at most; and between two probes
inline constexpr int kEmptiesBeforeBackoff = 16;  // empty trees in a row before the empty gap grows
inline constexpr int kEmptyGapSteps = 16;         // the longest empty gap
inline constexpr double kBalanceFirst = 2;        // tokens
inline constexpr double kBalanceMost = 4;         // tokens
inline constexpr int kFruitlessMost = 8;
inline constexpr int kGrowthShare = 4;  // the tree doubles if at least 1/kGrowthShare of it was accepted

// Why a sequence does not ask for a draft.
enum class DraftRest : uint8_t { none, failures, empty_trees, nothing_pays };  // none: it asks

class DraftBackoff {
 public:
  DraftBackoff() : DraftBackoff(kFirstNodes) {}
  // first_nodes: most nodes of the first draft, and after one of which nothing was accepted.
  explicit DraftBackoff(int first_nodes) : first_nodes_(first_nodes), nodes_(first_nodes) {}
  // For a drafter that brought next to nothing elsewhere: begins as after many empty trees, the
  // last of which came so many steps ago.
  static DraftBackoff rare(int steps_ago = 0) {
    DraftBackoff backoff(1);
    backoff.empty_gap_ = kEmptyGapSteps;
    backoff.plain_steps_left_ = std::max(kEmptyGapSteps - steps_ago, 0);
    return backoff;
  }

  // Whether the sequence asks for a draft for its next step, why not, and how large it may be.
  DraftRest rest() const {
    if (plain_steps_left_ > 0) return gap_ >= empty_gap_ ? DraftRest::failures : DraftRest::empty_trees;
    return affordable_ > 0 ? DraftRest::none : DraftRest::nothing_pays;
  }
  int nodes_max() const { return std::clamp(affordable_, 1, nodes_); }
  int nodes_cap() const { return nodes_; }     // the same without the row budget; doubles at most from step to step
  bool backs_off() const { return gap_ > 0; }  // plain steps lie between its drafts, after failures
  bool rests_between() const { return gap_ > 0 || empty_gap_ > 0; }  // the same, also after empty trees

  // The nodes that pay for themselves in the next step, by the row budget.
  void set_row_budget(int nodes) { affordable_ = nodes; }

  // Call one of these after every step of the sequence.
  void plain_step();  // no draft was asked for
  // A draft was asked for. A tree that came late or not at all: verified_nodes = 0, late = true.
  // price: tokens that each node cost. Returns whether that was a failure.
  bool drafted_step(int verified_nodes, int accepted_nodes, bool late, double price);

 private:
  int first_nodes_;
  int nodes_;
  int failures_ = 0;          // in a row
  int gap_ = 0;               // plain steps between two probes; 0: not backing off
  int empties_ = 0;           // in a row
  int empty_gap_ = 0;         // plain steps between two asks while trees come empty
  int plain_steps_left_ = 0;  // until the next draft
  int affordable_ = kTreeNodesMax;
  int fruitless_ = 0;  // verified trees in a row of which nothing was accepted
  double balance_ = kBalanceFirst;
};

}  // namespace slipstream
