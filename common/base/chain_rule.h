// A rule of the literature by which a draft head drafts chains, all of whose tokens are verified,
// whatever they cost: what the service's own rules are compared with (--head-rule). Plain data.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace slipstream {

inline constexpr int kChainLengthMax = 20;  // tokens; as SpecDec++ has it (2405.19715, Section 5)

struct ChainRule {
  int length_max = kChainLengthMax;  // fixed K (Leviathan et al., 2211.17192)
  float confidence_least = 0;        // a token that is stated to be less likely is not drafted
  float threshold = 1;               // h of SpecDec++, of the stated confidences or of an acceptance head
  float bound_least = 0;             // of AdaEDL (2410.18351): the last pass is the one whose acceptance_bound() is lower
  bool operator==(const ChainRule&) const = default;
};

inline constexpr std::string_view kChainRuleForms =
    "fixed:K (1 to 20 tokens), confidence:C, entropy:B or threshold:H (above 0, below 1)";

// text: one of kChainRuleForms.
Result<ChainRule> read_chain_rule(std::string_view text);

}  // namespace slipstream
