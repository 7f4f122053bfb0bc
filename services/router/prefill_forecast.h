// Predicts how long a request that starts now waits until the verifiers have prefilled the prompts
// before it, from how fast first tokens came while many were awaited. Pure.
//
//   forecast.observe({.prompts = 30, .tokens = 20'000}, 1, now);   // after every event
//   forecast.prefilled(700);                                       // a first token came: a prompt of 700 tokens is done
//   forecast.expected();
//
// Free places say nothing of this: 64 long prompts that come together find room at once, and the
// last of them gets its first token when all are prefilled. While more than kPrefillsAtOnce prompts
// for each verifier are awaited there is a backlog:
//
//   rate = (tokens prefilled + those of a mean prompt that is awaited) / time      expected = tokens awaited / rate
//
// Each backlog begins anew and with no wait, since prompts that come one by one are prefilled as
// fast as they come, which says nothing of how fast many would be. In a long one both sums decay
// with kPrefillMemory.
#pragma once

#include <chrono>
#include <cstdint>

#include "common/actor/actor.h"

namespace slipstream {

inline constexpr int32_t kPrefillsAtOnce = 4;
inline constexpr std::chrono::seconds kPrefillMemory{10};

// Prompts that verifiers have, whose first token has not come.
struct Awaited {
  int32_t prompts = 0;
  int64_t tokens = 0;
};

class PrefillForecast {
 public:
  // verifiers: that take work. The time since the last call counts as it was observed then.
  void observe(Awaited awaited, int32_t verifiers, Time now);
  void prefilled(int64_t tokens) { prefilled_ += static_cast<double>(tokens); }

  // 0: there is no backlog.
  Time expected() const;

 private:
  Awaited awaited_;
  bool backlog_ = false;
  Time observed_{};
  double prefilled_ = 0, seconds_ = 0;  // of this backlog, decayed
};

}  // namespace slipstream
