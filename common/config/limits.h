// What each number of the settings may be.
#pragma once

#include <cstdint>

#include "common/base/limits.h"
#include "common/config/range.h"

namespace slipstream {

inline constexpr Range kDeadlineUsRange{0, kDeadlineUsMax};
inline constexpr Range kNodesRange{0, kTreeNodesMax};
inline constexpr Range kSiblingsRange{1, kSiblingsMax};
inline constexpr Range kLeaseMsRange{kLeaseMsMin, kLeaseMsMax};
inline constexpr Range kRebalanceMsRange{0, 3'600'000};
inline constexpr Range kVerifierStuckMsRange{1000, 3'600'000};  // several heartbeats
inline constexpr Range kDrainMsRange{0, 3'600'000};
inline constexpr Range kThreadsRange{0, 256};
inline constexpr Range kCacheTokensRange{256, 16 * 1024 * 1024};
inline constexpr Range kContextTokensRange{16, kContextTokensMax, true};
inline constexpr Range kDrawnWaitUsRange{1, 60'000'000};
inline constexpr Range kStepCostUsRange{1, 10'000'000, true};
inline constexpr Range kWaitPercentRange{0, 100'000};  // at its end practically: always wait

}  // namespace slipstream
