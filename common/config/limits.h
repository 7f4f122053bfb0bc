// Bounds of settings, beyond those that base/limits.h already has.
#pragma once

#include <cstdint>

namespace slipstream {

inline constexpr uint32_t kDeadlineUsMax = 1'000'000;  // waiting longer than a second helps nobody
inline constexpr uint32_t kLeaseMsMin = 500;           // several heartbeats must fit
inline constexpr uint32_t kLeaseMsMax = 600'000;
inline constexpr uint32_t kThreadsMax = 256;
inline constexpr uint32_t kCacheTokensMin = 256;
inline constexpr uint32_t kCacheTokensMax = 16 * 1024 * 1024;
inline constexpr uint32_t kContextTokensMin = 16;

}  // namespace slipstream
