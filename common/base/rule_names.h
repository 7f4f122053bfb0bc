// The acceptance rules as operators and clients name them, and what each must or may be told; messages/rules.h says what they
// are.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace slipstream {

// The fields of a request's `speculation` that go with a rule; "": none.
struct RuleFields {
  std::string_view rule;
  std::string_view strength, delta;  // declare its bias: must be given
  bool siblings = false;             // may be given
};

inline constexpr std::array<RuleFields, 9> kRuleFields{{{"coupled", "", ""},
                                                        {"ratio", "", "", true},
                                                        {"batch", "", "", true},
                                                        {"block", "", ""},
                                                        {"traversal", "", "", true},
                                                        {"lenience", "lenience", ""},
                                                        {"pareto", "epsilon", ""},
                                                        {"uniform", "epsilon", ""},
                                                        {"typical", "epsilon", "delta"}}};

inline constexpr auto kRuleNames = [] {
  std::array<std::string_view, kRuleFields.size()> names;
  std::ranges::transform(kRuleFields, names.begin(), &RuleFields::rule);
  return names;
}();

}  // namespace slipstream
