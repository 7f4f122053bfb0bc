// The acceptance rules by the names that clients and operators use.
//
//   coupled     the target's own choice under shared noise; greedy at temperature 0
//   ratio       min(1, p/q) and the residual: chains, and trees if `siblings` is above 1
//   batch       parallel drafts: a root of `siblings` chains, sampled with replacement
//   block       block verification of chains
//   traversal   trees from the leaves up
//   lenience, pareto, uniform, typical    declared bias, on chains
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "common/base/names.h"
#include "common/messages/common.h"

namespace slipstream {

inline constexpr uint8_t kSiblingsUsual = 2;  // of the rules that draw several, unless asked otherwise

// The rule of that name with the shape that goes with it; nothing: no rule is called so. siblings:
// [1, kSiblingsMax], nothing for the usual number; ignored by rules on chains.
inline std::optional<Acceptance> acceptance_named(std::string_view name, std::optional<uint8_t> siblings) {
  constexpr std::array kRules{Rule::coupled,  Rule::ratio,  Rule::ratio,   Rule::traversal, Rule::traversal,
                              Rule::lenience, Rule::pareto, Rule::uniform, Rule::typical};
  static_assert(kRules.size() == kRuleNames.size());
  const auto at = std::ranges::find(kRuleNames, name) - kRuleNames.begin();
  if (at == std::ssize(kRuleNames)) return std::nullopt;
  Acceptance acceptance{.rule = kRules[static_cast<size_t>(at)]};
  if (name == "ratio") acceptance.root_children = acceptance.children = siblings.value_or(1);
  if (name == "traversal") acceptance.root_children = acceptance.children = siblings.value_or(kSiblingsUsual);
  if (name == "batch") {
    acceptance.root_children = siblings.value_or(kSiblingsUsual);
    acceptance.repeats = true;
  }
  return acceptance;
}

// The name of what ran; "greedy" at temperature 0.
inline std::string_view name_of(const Acceptance& acceptance) {
  switch (acceptance.rule) {
    case Rule::greedy:
      return "greedy";
    case Rule::coupled:
      return "coupled";
    case Rule::ratio:
      return acceptance.repeats ? "batch" : "ratio";
    case Rule::traversal:
      return acceptance.root_children * acceptance.children == 1 ? "block" : "traversal";
    case Rule::lenience:
      return "lenience";
    case Rule::pareto:
      return "pareto";
    case Rule::uniform:
      return "uniform";
    case Rule::typical:
      return "typical";
  }
  return "";
}

}  // namespace slipstream
