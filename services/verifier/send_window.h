// Decides which part of a sequence's output goes to its router, and when. At most kTokensInFlight
// messages are unacknowledged. What is emitted meanwhile goes out in one message after the next
// Ack, so a verifier that is faster than its router fills no socket, where messages would be
// dropped. Output that stays unacknowledged for too long is sent again. Pure.
//
// Indices are those of Tokens (messages/generate.h): of output tokens, and below 0 of the
// prompt's logprobs. A finish counts as one more, after the last token. `end` is the index after
// the last one that exists.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/actor/actor.h"
#include "common/actor/backoff.h"
#include "common/base/limits.h"
#include "common/sampling/logprobs.h"

namespace slipstream {

inline constexpr int kTokensInFlight = 3;  // messages of a sequence
static_assert(kTokensInFlight * kSequencesPerVerifierMax <= kSocketHighWaterMessages * 3 / 4, "or a socket could be full");
// A prompt's logprobs come by the step, so that all sequences may send full messages of them at
// once. (Verifiers of older releases sent more in one, so more is read.)
inline constexpr int kPromptTokensSentMax = 48;  // in a message
static_assert(kPromptTokensSentMax <= kPromptTokensPerMessageMax, "or it would be refused");
inline constexpr int64_t kScoredTokenBytesMax = 24 + 8 * kTopLogprobsMax;  // on the wire

// Reports of trees go with the tokens of their rounds, all of those that are kept at most. So of
// those that ask for reports, few get them at once.
inline constexpr int kReportingSequencesMax = 64;
static_assert(kTokensPerMessageMax * kScoredTokenBytesMax + kTreeReportsMax * static_cast<int64_t>(kTreeReportBytesMax) <
                  static_cast<int64_t>(kControlFrameBytesMax) * 15 / 16,
              "or a message would be too long");
static_assert(kReportingSequencesMax * kTreeReportsMax * static_cast<int64_t>(kTreeReportBytesMax) +
                      kTokensInFlight * (kSequencesPerVerifierMax - kReportingSequencesMax) * kPromptTokensSentMax *
                          kScoredTokenBytesMax <
                  kHeldBytesMax,
              "or a router would cut the connection");

inline constexpr Time kResendInterval = std::chrono::milliseconds(200);  // unacked tokens go out again; doubling
inline constexpr Time kResendIntervalMost = std::chrono::milliseconds(800);

class SendWindow {
 public:
  SendWindow() = default;
  explicit SendWindow(int32_t first) : acked_(first), sent_(first) {}  // what the router has already

  // The index at which the next message begins. Empty: there is nothing new, or the window is full.
  std::optional<int32_t> next(int32_t end) const;
  void sent(int32_t to, Time now);  // a message that ends before index `to` was sent

  // The router has everything before `index`, which must be in [acked(), end]. An Ack that repeats
  // acked() says that the router misses what follows: next() then begins there.
  void ack(int32_t index, Time now);
  int32_t acked() const { return acked_; }

  // When unacknowledged output goes out again; empty: all of it is acknowledged. At that time call
  // again(), and send as next() says.
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
