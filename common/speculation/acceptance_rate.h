// Estimates alpha: the probability that a node is accepted, given that its parent was (Leviathan et
// al., 2211.17192, Section 3.1). An exponentially weighted average over the levels of verified
// trees:
//
//   won    := m won   + accepted                         m = kAlphaMemory, once per tree
//   tried  := m tried + accepted + [accepted < depth]    the level behind the accepted path was
//                                                        tried and rejected
//   alpha   = won / tried
//
// The row budget of rules that sample (engine/row_budget.h) is computed from it. Pure.
#pragma once

namespace slipstream {

inline constexpr double kAlphaMemory = 0.95;    // weight of a tree, relative to the next one
inline constexpr double kAlphaFirst = 0.75;     // the estimate before the first tree
inline constexpr double kAlphaFirstWeight = 4;  // its weight, in levels tried

class AcceptanceRate {
 public:
  AcceptanceRate() = default;
  explicit AcceptanceRate(double first) : won_(first * kAlphaFirstWeight) {}  // the estimate before the first tree
  double alpha() const { return won_ / tried_; }
  // A tree was verified. depth: of the tree, at least 1. accepted: nodes on the accepted path.
  void tree(int depth, int accepted) {
    won_ = kAlphaMemory * won_ + accepted;
    tried_ = kAlphaMemory * tried_ + accepted + (accepted < depth ? 1 : 0);
  }

 private:
  double won_ = kAlphaFirst * kAlphaFirstWeight;
  double tried_ = kAlphaFirstWeight;
};

}  // namespace slipstream
