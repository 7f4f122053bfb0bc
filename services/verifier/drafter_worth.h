// What asking one drafter for a tree brought lately, over all sequences of a verifier.
//
//   gain := gain + (won - gain) / asks      for each ask, asks at most kTriedMost
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
    if (lapsed(now)) asks_ = 0;
    asks_ = std::min(asks_ + 1, kTriedMost);
    gain_ += (won - gain_) / asks_;
    newest_ = now;
  }
  // A sequence gave it up as useless, however few asks it had.
  void given_up(Time now) {
    if (asks_ == 0 || lapsed(now)) {
      asks_ = 0;
      gain_ = 0;
    }
    asks_ = std::max(asks_, kTrialAsks);
    newest_ = now;
  }

  bool tried() const { return asks_ > 0; }  // ever
  bool known(Time now) const { return asks_ >= kTrialAsks && !lapsed(now); }
  double gain() const { return gain_; }  // tokens an ask
  // What the next ask may bring: while nobody knows, kTreeGainFirst.
  double expected(Time now) const { return known(now) ? gain_ : kTreeGainFirst; }

 private:
  bool lapsed(Time now) const { return asks_ > 0 && now - newest_ >= kWorthLasts; }

  int asks_ = 0;
  double gain_ = kTreeGainFirst;
  Time newest_{};
};

}  // namespace slipstream
