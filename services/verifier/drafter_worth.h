// What asking one drafter for a tree brought lately, over all sequences of a verifier.
//
//   gain := gain + (won - gain) / asks      for each ask, asks at most kTriedMost
//
// An ask whose tree came too late won nothing. What a tree would bring that is waited for is told
// by those that came in time: otherwise one that is late, since nobody waited for it, would make
// the next one not worth a wait.
//
// What was learnt long ago says little: kWorthLasts after the newest ask it is unknown again, and
// the next asks count as the first ones. Pure.
#pragma once

#include <algorithm>

#include "common/actor/actor.h"

namespace slipstream {

inline constexpr double kTreeGainFirst = 1;  // tokens, before the first tree
inline constexpr int kTrialAsks = 8;         // before a drafter is compared with others
inline constexpr int kTriedMost = 64;        // asks over which its worth is averaged
inline constexpr Time kWorthLasts = std::chrono::seconds(60);

class DrafterWorth {
 public:
  // An ask brought so many tokens, less what the rows of its tree cost.
  void asked(double won, Time now) {
    count(won, now);
    trees_ = std::min(trees_ + 1, kTriedMost);
    tree_gain_ += (won - tree_gain_) / trees_;
  }
  // Its tree came too late.
  void missed(Time now) { count(0, now); }
  // A sequence gave it up as useless, however few asks it had.
  void given_up(Time now) {
    if (asks_ == 0 || lapsed(now)) {
      asks_ = trees_ = 0;
      gain_ = 0;
    }
    asks_ = std::max(asks_, kTrialAsks);
    newest_ = now;
  }

  bool tried() const { return asks_ > 0; }  // ever
  bool known(Time now) const { return asks_ >= kTrialAsks && !lapsed(now); }
  double gain() const { return gain_; }  // tokens an ask
  // What the next tree may bring if it comes in time: while nobody knows, kTreeGainFirst.
  double expected(Time now) const {
    if (!known(now)) return kTreeGainFirst;
    return trees_ > 0 ? tree_gain_ : gain_;
  }

 private:
  bool lapsed(Time now) const { return asks_ > 0 && now - newest_ >= kWorthLasts; }

  void count(double won, Time now) {
    if (lapsed(now)) asks_ = trees_ = 0;
    asks_ = std::min(asks_ + 1, kTriedMost);
    gain_ += (won - gain_) / asks_;
    newest_ = now;
  }

  int asks_ = 0;
  int trees_ = 0;  // of these, those whose tree came in time
  double gain_ = kTreeGainFirst, tree_gain_ = kTreeGainFirst;
  Time newest_{};
};

}  // namespace slipstream
