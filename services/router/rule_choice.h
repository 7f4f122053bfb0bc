// Which acceptance rule runs for a request, and why it is not the one that was asked for.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/base/names.h"
#include "common/messages/common.h"

namespace slipstream {

// All but the first: why another rule runs. A sampled rule believes what its drafters say of their
// probabilities, so without one that may be believed the target's own choice decides: the same
// distribution.
enum class RuleReason : uint8_t { as_asked, temperature_zero, no_drafter, no_drafter_of_that_method, no_trusted_drafter };
inline constexpr std::array<std::string_view, 5> kRuleReasons{"", "temperature_zero", "no_drafter", "no_drafter_of_that_method",
                                                              "no_trusted_drafter"};
constexpr std::string_view name_of(RuleReason reason) { return kRuleReasons[static_cast<size_t>(reason)]; }

struct RuleChoice {
  Acceptance ran;
  RuleReason reason = RuleReason::as_asked;
};

// How often what ran where what was asked for, each Start that is no repetition of one.
struct RuleCounts {
  std::array<std::array<uint64_t, kRuleReasons.size()>, kRuleNames.size()> asked{};  // [rule asked for][why another ran]
  uint64_t plain = 0;                                                                // speculation was off
};

}  // namespace slipstream
