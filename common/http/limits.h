// Deadlines and bounds of HTTP connections, beside the sizes of base/limits.h.
#pragma once

#include <chrono>
#include <cstddef>

#include "common/base/limits.h"

namespace slipstream::http {

inline constexpr std::chrono::milliseconds kReadDeadline{30'000};   // a request's head, then its body
inline constexpr std::chrono::milliseconds kIdleDeadline{120'000};  // a kept-alive connection without a request
inline constexpr std::chrono::milliseconds kStallDeadline{30'000};  // an answer of which not one byte more goes out
inline constexpr std::chrono::milliseconds kLingerDeadline{2'000};  // for the client to take our last words and close
inline constexpr std::chrono::milliseconds kLastRequest{1'000};     // for a request on its way, once the server takes no more
inline constexpr size_t kHttpUnsentBytesMax = 1024 * 1024;          // of a stream, written but not yet taken by the client
inline constexpr size_t kHttpPipelinedBytesMax = 64 * 1024;         // of later requests, while one is being answered
inline constexpr size_t kReadBytes = 16 * 1024;                     // asked of the socket at once
inline constexpr int kHttpRefusalsMax = 64;                         // connections over the limit that get a 503 at one time

// What a server keeps to; tests narrow it.
struct ServerLimits {
  size_t header_bytes = kHttpHeaderBytesMax;
  size_t body_bytes = kHttpBodyBytesMax;
  size_t unsent_bytes = kHttpUnsentBytesMax;
  int connections = kHttpConnectionsMax;
  std::chrono::milliseconds read = kReadDeadline;
  std::chrono::milliseconds idle = kIdleDeadline;
  std::chrono::milliseconds stall = kStallDeadline;
};

}  // namespace slipstream::http
