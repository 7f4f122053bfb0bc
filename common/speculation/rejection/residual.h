// What remains of the target's distribution p at one node of a sampled tree, while its children,
// which were sampled from q, are rejected one by one.
//
//   accept x with probability     min(1, p(x) / q(x))   Leviathan et al. 2211.17192, Section 2.3;
//                                                       Chen et al. 2302.01318
//   after a rejection             p := norm((p - q)+)
//   next child, with replacement  q stays as it is      SpecInfer 2305.09781
//   next child, without           q := norm(q but x)    Sequoia 2402.12374; RRSw of 2402.14160
//
// With a reach r < 1 the node itself is emitted with probability r only. Rules that go from the
// leaves up use this (block verification 2403.10444, Algorithm 2; traversal 2505.12398):
//
//   accept x with probability     min(1, r p(x) / q(x))
//   after a rejection             p := (r p - q)+ / S  and  r := S / (S + 1 - r),
//                                 where S = sum (r p - q)+
//
// Only probabilities of q's tokens change in proportion, so a rejection costs O(tokens of q),
// whatever the vocabulary.
#pragma once

#include <span>
#include <vector>

#include "common/speculation/rejection/random_source.h"
#include "common/speculation/rejection/token_distribution.h"

namespace slipstream {

enum class Replacement : uint8_t { without, with };  // may two siblings carry the same token?

class Residual {
 public:
  // Starts anew at a node; the buffers are reused. q may be empty: the node has no children.
  // REQUIRES: p is not empty; p and q outlive the calls below.
  void begin(const TokenDistribution& p, const TokenDistribution& q, double reach = 1.0);

  // The probability min(1, r p / q) with which a child with this token is accepted now. REQUIRES: q
  // can give the token.
  double acceptance(TokenId token) const;
  void reject(TokenId token, Replacement replacement);

  double reach() const { return reach_; }

  // Samples a token from the residual.
  TokenId draw(RandomSource& random) const;

  // For tests: the residual of each of q's tokens [q.ids], and of all other tokens together.
  std::span<const double> target() const { return p_; }
  double outside() const { return outside_; }

 private:
  size_t place(TokenId token) const;

  TokenDistribution whole_;           // p as it was in begin()
  std::span<const TokenId> support_;  // the tokens of q
  std::vector<double> p_, q_;         // [support] as they are now
  double outside_ = 1.0;              // p outside the support, as it is now
  double reach_ = 1.0;                // r
};

}  // namespace slipstream
