// The target's law at one node of a drawn tree while its children, drawn from q, are refused one by one. Only tokens that q can
// draw change in proportion, so a refusal costs what q has tokens, whatever the vocabulary.
//
// The rule of one child (Leviathan et al. 2211.17192, Section 2.3; Chen et al. 2302.01318): accept x with min(1, p(x)/q(x)),
// else p becomes norm((p - q)+). Of several: once more with what p has become, and q as it was where children are drawn with
// replacement (SpecInfer 2305.09781), or without x and renormalised where not (2402.12374; RRSw of 2402.14160).
//
// With a reach r < 1 the node itself is emitted with probability r only, from the leaves up (block verification 2403.10444,
// Algorithm 2; traversal 2505.12398): children are weighed against r p, and r becomes S / (S + 1 - r), where S is the sum of
// (r p - q)+.
#pragma once

#include <span>
#include <vector>

#include "common/sampling/dice.h"
#include "common/sampling/law.h"

namespace slipstream {

enum class Replacement : uint8_t { without, with };  // of a sibling set: are its tokens distinct?

class Residual {
 public:
  // Reused from node to node. p and q must outlive it; q may be empty: no children.
  void begin(const Law& p, const Law& q, double reach = 1.0);

  // With which probability a child of this token is accepted now: min(1, r p / q).
  double ratio(TokenId token) const;
  void refuse(TokenId token, Replacement replacement);

  double reach() const { return reach_; }
  // A token of what the law is now.
  TokenId draw(Dice& dice) const;

  // What is left of the target's law on q's tokens ([q.ids]), and on all others together. For tests and for bias.h.
  std::span<const double> target() const { return p_; }
  double rest() const { return rest_; }

 private:
  size_t place(TokenId token) const;

  Law law_;
  std::span<const TokenId> support_;  // of q
  std::vector<double> p_, q_;         // [support] laws as they are now
  double rest_ = 1.0;                 // of p outside the support
  double reach_ = 1.0;
};

}  // namespace slipstream
