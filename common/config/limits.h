// Bounds of settings, beyond those that base/limits.h already has.
#pragma once

#include <cstdint>

namespace slipstream {

inline constexpr uint32_t kWaitPercentMax = 100'000;  // practically: always wait
inline constexpr uint32_t kThreadsMax = 256;
inline constexpr uint32_t kCacheTokensMin = 256;
inline constexpr uint32_t kCacheTokensMax = 16 * 1024 * 1024;
inline constexpr uint32_t kContextTokensMin = 16;
inline constexpr uint32_t kDrainMsMax = 3'600'000;
inline constexpr uint32_t kRebalanceMsMax = 3'600'000;
inline constexpr uint32_t kVerifierStuckMsMin = 1000;  // several heartbeats
inline constexpr uint32_t kVerifierStuckMsMax = 3'600'000;

}  // namespace slipstream
