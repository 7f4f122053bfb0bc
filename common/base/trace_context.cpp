#include "common/base/trace_context.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace slipstream {
namespace {

constexpr size_t kTraceAt = 3, kSpanAt = 36, kFlagsAt = 53, kBytes = 55;  // 00-<32>-<16>-<2>
constexpr uint64_t kSampled = 1;                                          // of the flags

std::optional<uint64_t> read_hex(std::string_view digits) {
  const auto lower = [](char c) { return ('0' <= c && c <= '9') || ('a' <= c && c <= 'f'); };
  uint64_t value = 0;
  if (!std::ranges::all_of(digits, lower)) return std::nullopt;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

}  // namespace

// A later version may be longer, and begins in the same way.
std::optional<TraceParent> read_traceparent(std::string_view header) {
  if (header.size() < kBytes || header[kTraceAt - 1] != '-' || header[kSpanAt - 1] != '-' || header[kFlagsAt - 1] != '-') {
    return std::nullopt;
  }
  const auto version = read_hex(header.substr(0, 2)), high = read_hex(header.substr(kTraceAt, 16)),
             low = read_hex(header.substr(kTraceAt + 16, 16)), parent = read_hex(header.substr(kSpanAt, 16)),
             flags = read_hex(header.substr(kFlagsAt, 2));
  if (!version || !high || !low || !parent || !flags) return std::nullopt;
  if (*version == 0xFF || (*version == 0 && header.size() > kBytes) || (header.size() > kBytes && header[kBytes] != '-')) {
    return std::nullopt;
  }
  TraceParent read{.trace = {*high, *low, *parent}, .sampled = (*flags & kSampled) != 0};
  if (!read.trace.traced() || *parent == 0) return std::nullopt;
  return read;
}

std::string hex16(uint64_t id) { return fmt::format("{:016x}", id); }

}  // namespace slipstream
