// Deadlines and limits of HTTP connections. base/limits.h has the sizes of header and body and the
// number of connections.
#pragma once

#include <chrono>
#include <cstddef>

#include "common/base/limits.h"

namespace slipstream::http {

inline constexpr std::chrono::milliseconds kReadDeadline{30'000};   // for a request's head, then again for its body
inline constexpr std::chrono::milliseconds kIdleDeadline{120'000};  // for a kept-alive connection without a request
inline constexpr std::chrono::milliseconds kTlsDeadline{10'000};    // for the handshake of TLS
inline constexpr std::chrono::milliseconds kStallDeadline{30'000};  // for the client to take any byte of an answer
inline constexpr std::chrono::milliseconds kLingerDeadline{2'000};  // for the client to read the last answer and close
inline constexpr std::chrono::milliseconds kLastRequest{1'000};     // for each part of a request when the server stops
inline constexpr std::chrono::milliseconds kLastHandshake{200};     // for connections under way when the server stops
inline constexpr std::chrono::milliseconds kFirstProbePause{500};  // then twice as long each time; of clients that send no more
inline constexpr size_t kProbesMax = 8;                            // of one part of an answer
inline constexpr size_t kHttpUnsentBytesMax = 1024 * 1024;         // of a stream, written but not yet taken by the client
inline constexpr size_t kHttpPipelinedBytesMax = 64 * 1024;        // of later requests, while one is being answered
inline constexpr size_t kReadBytes = 16 * 1024;                    // of one read from the socket
inline constexpr int kHttpRefusalsMax = 64;  // connections over the limit that are refused at a time as others are

// The limits of one server. Tests use smaller ones.
struct ServerLimits {
  size_t header_bytes = kHttpHeaderBytesMax;
  size_t body_bytes = kHttpBodyBytesMax;
  size_t receiving_bytes = kHttpReceivingBytesMax;
  size_t unsent_bytes = kHttpUnsentBytesMax;
  int connections = kHttpConnectionsMax;
  std::chrono::milliseconds read = kReadDeadline;
  std::chrono::milliseconds idle = kIdleDeadline;
  std::chrono::milliseconds stall = kStallDeadline;
  std::chrono::milliseconds handshake = kLastHandshake;
  std::chrono::milliseconds tls = kTlsDeadline;
};

}  // namespace slipstream::http
