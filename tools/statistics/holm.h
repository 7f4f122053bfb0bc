// Many tests at once (Holm, 1979): the chance that even one of them rejects wrongly is at most
// alpha, however they depend on each other.
#pragma once

#include <span>
#include <vector>

namespace slipstream::statistics {

// [tests] p-values so adjusted that those to be rejected at level alpha are those not above alpha.
// In the given order.
std::vector<double> holm(std::span<const double> p_values);

}  // namespace slipstream::statistics
