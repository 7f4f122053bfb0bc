// Acceptance rules by the names that clients and operators write, and the tree shape of each.
//
//   coupled      a draft token is accepted if the target samples the same token with the same noise
//   ratio        accept with min(1, p/q), else sample from the residual; chains, or trees if siblings > 1
//   batch        as ratio, on `siblings` chains below one root, sampled with replacement
//   block        block verification of a chain
//   traversal    verification of a tree, from the leaves up
//   lenience, pareto, uniform, typical    rules with a declared bias, on chains
//
// p is the target's probability of the draft token, q the drafter's. "greedy" is no name that a
// client can give: it is what the rule coupled is called at temperature 0.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "common/base/names.h"
#include "common/messages/common.h"

namespace slipstream {

inline constexpr uint8_t kSiblingsUsual = 2;  // default of the rules that sample several siblings

// The rule of this name and the shape of its trees, or nullopt if no rule has this name.
//
// siblings: children a node, in [1, kSiblingsMax]; nullopt for the rule's default. Rules on chains
// ignore it.
inline std::optional<Acceptance> acceptance_named(std::string_view name, std::optional<uint8_t> siblings) {
  constexpr std::array kRules{Rule::coupled,  Rule::ratio,  Rule::ratio,   Rule::traversal, Rule::traversal,
                              Rule::lenience, Rule::pareto, Rule::uniform, Rule::typical};
  static_assert(kRules.size() == kRuleNames.size());  // [kRuleNames] in the same order
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

// The name of the rule that ran: "greedy" at temperature 0, else one of kRuleNames.
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
