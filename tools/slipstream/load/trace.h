// A trace to replay: JSON lines, each a request with the time at which it arrived.
//
//   {"at_ms": 0, "prompt": "Why is the sky blue?", "max_tokens": 64}
//   {"at_ms": 180.5, "messages": [{"role": "user", "content": "Hello!"}]}
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "tools/slipstream/load/request_mix.h"
#include "tools/slipstream/load/schedule.h"

namespace slipstream::command::load {

inline constexpr size_t kTraceBytesMax = 256 * 1024 * 1024;
inline constexpr size_t kTraceRequestsMax = 1'000'000;
inline constexpr double kTraceMsMax = 7.0 * 24 * 3600 * 1000;  // a week

struct Trace {
  std::vector<Offset> times;         // sorted; the first is 0: a trace begins with its first request
  std::vector<AskedPrompt> prompts;  // [times]
};

// speed: 2 replays twice as fast. Error: which line is wrong and why, a time before the one above
// it, no request at all, or a limit.
Result<Trace> parse_trace(std::string_view text, double speed);
Result<Trace> read_trace(const std::filesystem::path& file, double speed);

}  // namespace slipstream::command::load
