// One value for greedy and one for all other requests: the same guess is less likely right where
// the target samples. What drafters win is learnt of greedy and coupled requests only.
#pragma once

#include "common/messages/common.h"

namespace slipstream {

template <class T>
class ByRule {
 public:
  T& of(Rule rule) { return rule == Rule::greedy ? greedy_ : sampled_; }
  const T& of(Rule rule) const { return rule == Rule::greedy ? greedy_ : sampled_; }

 private:
  T greedy_{}, sampled_{};
};

}  // namespace slipstream
