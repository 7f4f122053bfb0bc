// Two plots of the distribution tests, as self-contained SVG.
#pragma once

#include <span>
#include <string>

#include "tools/slipstream/verify/distribution_check.h"

namespace slipstream::command::verify {

// One bar for each test, longer for a smaller corrected p-value (logarithmic), and the line that no
// bar may cross.
std::string p_value_plot(std::span<const DistributionTest> tests, double alpha);

// How often each server sampled each cell: two bars a cell, the most frequent first, at most 24
// cells.
std::string share_plot(const DistributionTest& test);

}  // namespace slipstream::command::verify
