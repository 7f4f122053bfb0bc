// How likely a node is accepted whose parent was: alpha of Leviathan et al. (2211.17192), section
// 3.1, taken level by level from the trees that were verified, the newest weighing most. Pure.
#pragma once

namespace slipstream {

inline constexpr double kAlphaMemory = 0.95;    // what a tree weighs beside the one after it
inline constexpr double kAlphaFirst = 0.75;     // before anything was verified,
inline constexpr double kAlphaFirstWeight = 4;  // as if so many levels had shown it

class AcceptanceRate {
 public:
  double alpha() const { return won_ / tried_; }
  // depth: of the tree, at least 1; accepted: nodes on the path taken. The level behind them was
  // tried and lost, if there was one.
  void tree(int depth, int accepted) {
    won_ = kAlphaMemory * won_ + accepted;
    tried_ = kAlphaMemory * tried_ + accepted + (accepted < depth ? 1 : 0);
  }

 private:
  double won_ = kAlphaFirst * kAlphaFirstWeight;
  double tried_ = kAlphaFirstWeight;
};

}  // namespace slipstream
