// Two pictures of the distribution tests, as SVG that stands by itself in a page.
#pragma once

#include <span>
#include <string>

#include "tools/slipstream/verify/distribution_check.h"

namespace slipstream::command::verify {

// A bar for each test, as long as its corrected p-value is small (logarithmic), and the line that
// none may cross.
std::string p_value_plot(std::span<const DistributionTest> tests, double alpha);

// How often each side drew what: two bars a cell, the most frequent first, at most 24 cells.
std::string share_plot(const DistributionTest& test);

}  // namespace slipstream::command::verify
