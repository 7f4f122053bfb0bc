// Names that operators and clients write, and that several layers must know: roles and their keys,
// draft methods, acceptance rules.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace slipstream {

// The name of a key begins with the role of the process that has it: router, verifier, drafter;
// "drafter", "drafter-2".
inline constexpr std::string_view kRoles[] = {"router", "verifier", "drafter"};

// key_is_of("drafter-2", "drafter")
inline bool key_is_of(std::string_view name, std::string_view role) {
  return name.starts_with(role) && (name.size() == role.size() || name[role.size()] == '-');
}

// The draft methods of this release. Others may bring their own.
inline constexpr std::string_view kNgram = "ngram";       // look-up in the sequence itself
inline constexpr std::string_view kSmallLm = "small-lm";  // a small model of the target's tokenizer
inline constexpr std::array<std::string_view, 2> kMethodNames{kNgram, kSmallLm};

// An acceptance rule (messages/rules.h), and the fields of a request's `speculation` that go with
// it; "": none.
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
