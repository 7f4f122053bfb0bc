// Nodes of drafts that were verified and accepted, an ask, in the mean over the latest asks. Plain
// data.
#pragma once

namespace slipstream {

struct NodesWon {
  double accepted = 0, verified = 0;

  // Counts one more ask, the last of so many.
  void add(const NodesWon& ask, int asks) {
    accepted += (ask.accepted - accepted) / asks;
    verified += (ask.verified - verified) / asks;
  }
  // Tokens an ask, less what the rows of its nodes cost at the price of now: what they cost while a
  // machine was busy, or under more load, says nothing about an ask today.
  double gain(double row_price) const { return accepted - row_price * verified; }
};

}  // namespace slipstream
