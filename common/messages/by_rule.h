// One value for greedy requests and one for those that sample: the same guess is less likely right
// where the target samples. Of the ratio family nothing is learned.
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
