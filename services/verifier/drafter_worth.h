// What asking one drafter for a tree brought lately, over all sequences of a verifier.
//
//   won  := won + (ask - won) / asks             for each ask, asks at most kTriedMost: its nodes that were accepted, and verified
//   gain  = accepted - row price * verified      tokens an ask, at the price of now (nodes_won.h)
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
#include "services/verifier/nodes_won.h"

namespace slipstream {

inline constexpr double kTreeGainFirst = 1;  // tokens, before the first tree
inline constexpr int kTrialAsks = 8;         // before a drafter is compared with others
inline constexpr int kTriedMost = 64;        // asks over which its worth is averaged
// A drafter whose trees lately added fewer tokens than this to what others guess brings little: it
// is asked rarely by a new sequence, until a node that only it guessed is accepted there.
inline constexpr double kTreeGainLeast = 0.05;
inline constexpr Time kWorthLasts = std::chrono::seconds(60);

class DrafterWorth {
 public:
  // Of the tree of an ask so many nodes were verified, and so many of these accepted.
  void asked(int accepted, int verified, Time now) {
    const NodesWon won{.accepted = static_cast<double>(accepted), .verified = static_cast<double>(verified)};
    count(won, now);
    trees_ = std::min(trees_ + 1, kTriedMost);
    of_trees_.add(won, trees_);
  }
  // Its tree came too late.
  void missed(Time now) { count({}, now); }
  // A sequence gave it up as useless, however few asks it had.
  void given_up(Time now) {
    if (asks_ == 0 || lapsed(now)) {
      asks_ = trees_ = 0;
      won_ = {};
    }
    asks_ = std::max(asks_, kTrialAsks);
    newest_ = now;
  }

  bool tried() const { return asks_ > 0; }  // ever
  bool known(Time now) const { return asks_ >= kTrialAsks && !lapsed(now); }
  double gain(double row_price) const { return won_.gain(row_price); }
  bool brings_little(double row_price, Time now) const { return known(now) && gain(row_price) < kTreeGainLeast; }
  // What the next tree may bring if it comes in time: while nobody knows, kTreeGainFirst.
  double expected(double row_price, Time now) const {
    if (!known(now)) return kTreeGainFirst;
    return (trees_ > 0 ? of_trees_ : won_).gain(row_price);
  }

 private:
  bool lapsed(Time now) const { return asks_ > 0 && now - newest_ >= kWorthLasts; }

  void count(const NodesWon& ask, Time now) {
    if (lapsed(now)) asks_ = trees_ = 0;
    asks_ = std::min(asks_ + 1, kTriedMost);
    won_.add(ask, asks_);
    newest_ = now;
  }

  int asks_ = 0;
  int trees_ = 0;  // of these, those whose tree came in time
  NodesWon won_{.accepted = kTreeGainFirst}, of_trees_ = won_;
  Time newest_{};
};

}  // namespace slipstream
