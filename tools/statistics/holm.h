// Corrects the p-values of many tests (Holm, 1979): the chance that even one of them rejects
// wrongly is at most alpha, however the tests depend on each other.
#pragma once

#include <span>
#include <vector>

namespace slipstream::statistics {

// p_values: [tests]. Returns corrected p-values in the same order: reject a test at level alpha if
// its corrected p-value is at most alpha.
std::vector<double> holm(std::span<const double> p_values);

}  // namespace slipstream::statistics
