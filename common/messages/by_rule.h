// One value for greedy requests, one for coupled ones and one for those of the ratio family: the
// same guess is less likely right where the target samples, and more likely where its chance is
// weighed instead.
#pragma once

#include "common/messages/common.h"

namespace slipstream {

template <class T>
class ByRule {
 public:
  T& of(Rule rule) { return rule == Rule::greedy ? greedy_ : is_sampled(rule) ? ratio_family_ : coupled_; }
  const T& of(Rule rule) const { return const_cast<ByRule*>(this)->of(rule); }

 private:
  T greedy_{}, coupled_{}, ratio_family_{};
};

}  // namespace slipstream
