// What of a sequence's output goes to its router, and when. At most kTokensInFlight messages are
// unacked; what is emitted meanwhile goes out together with the next Ack, so that a verifier faster
// than its router fills no socket, and nothing is dropped there. Unacked for long, all of it goes
// out again. Pure.
//
// Indices count output tokens; a finish counts as one more, after the last.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/actor/actor.h"
#include "common/actor/backoff.h"
#include "common/base/limits.h"

namespace slipstream {

inline constexpr int kTokensInFlight = 3;  // messages of a sequence
static_assert(kTokensInFlight * kSequencesPerVerifierMax <= kSocketHighWaterMessages * 3 / 4, "or a socket could be full");

inline constexpr Time kResendInterval = std::chrono::milliseconds(200);  // unacked tokens go out again; doubling
inline constexpr Time kResendIntervalMost = std::chrono::milliseconds(1600);

class SendWindow {
 public:
  SendWindow() = default;
  explicit SendWindow(int32_t first) : acked_(first), sent_(first) {}  // what the router has already

  // Where the next message begins; `end` is that of what there is. None: there is nothing new, or
  // the window is full.
  std::optional<int32_t> next(int32_t end) const;
  void sent(int32_t to, Time now);  // one message, up to there

  // The router has all before `index`, which is in [acked(), end]. One that moves nothing says that
  // the rest is missed: next() begins there.
  void ack(int32_t index, Time now);
  int32_t acked() const { return acked_; }

  // When what is unacked goes out again: first again(), then as next() says. `end` as there.
  std::optional<Time> resend_at(int32_t end) const { return acked_ < end ? std::optional(resend_at_) : std::nullopt; }
  void again();

 private:
  void nothing_is_in_flight();

  int32_t acked_ = 0;
  int32_t sent_ = 0;
  int in_flight_ = 0;
  std::array<int32_t, kTokensInFlight> ends_{};  // [in_flight_] of messages, oldest first
  Time resend_at_{};
  Time wait_ = kResendInterval;
  Backoff waits_{2 * kResendInterval, kResendIntervalMost};  // the next ones
};

}  // namespace slipstream
