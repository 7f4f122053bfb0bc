// The status of /health of a process that does not get on: its event loop or its compute job hangs.
// Not 503, which an HTTP server that is busy answers, too.
#pragma once

namespace slipstream::http {

inline constexpr int kStuckStatus = 500;

}  // namespace slipstream::http
