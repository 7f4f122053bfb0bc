#include "services/router/prefill_forecast.h"

#include <algorithm>
#include <cmath>

namespace slipstream {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr Seconds kGapMost{1};  // a longer one between two events means that the router did not run

}  // namespace

void PrefillForecast::observe(Awaited awaited, int32_t verifiers, Time now) {
  if (backlog_) {
    const Seconds passed = std::min<Seconds>(now - observed_, kGapMost);
    const double kept = std::exp(-passed / Seconds(kPrefillMemory));
    prefilled_ *= kept;
    seconds_ = seconds_ * kept + passed.count();
  }
  awaited_ = awaited;
  backlog_ = awaited.prompts > kPrefillsAtOnce * std::max(1, verifiers);
  observed_ = now;
  if (!backlog_) prefilled_ = seconds_ = 0;
}

Time PrefillForecast::expected() const {
  if (!backlog_) return Time(0);
  const auto tokens = static_cast<double>(awaited_.tokens);
  return std::chrono::duration_cast<Time>(Seconds(tokens * seconds_ / (prefilled_ + tokens / awaited_.prompts)));
}

}  // namespace slipstream
