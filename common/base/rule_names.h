// The acceptance rules as operators and clients name them; messages/rules.h says what they are.
#pragma once

#include <array>
#include <string_view>

namespace slipstream {

inline constexpr std::array<std::string_view, 9> kRuleNames{"coupled",  "ratio",  "batch",   "block",  "traversal",
                                                            "lenience", "pareto", "uniform", "typical"};

}  // namespace slipstream
