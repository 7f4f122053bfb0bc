#include "services/router/wait_forecast.h"

#include <algorithm>
#include <cmath>

namespace slipstream {
namespace {

using Seconds = std::chrono::duration<double>;

// The router hears of its workers several times a second. A longer gap means that it did not run.
constexpr Seconds kGapMost{1};
constexpr double kFreedLeast = 1e-6;           // where nothing became free for very long
constexpr Seconds kExpectedMost{24 * 3600.0};  // fits into Time

}  // namespace

void WaitForecast::observe(Places places, Time now) {
  if (places_.full && places_.all > 0) {
    const Seconds passed = std::min<Seconds>(now - observed_, kGapMost);
    const double kept = std::exp(-passed / Seconds(kForecastMemory));
    freed_ = std::max(freed_ * kept, kFreedLeast);
    place_seconds_ = place_seconds_ * kept + passed.count() * places_.all;
  }
  places_ = places;
  observed_ = now;
}

std::optional<Time> WaitForecast::expected(size_t ahead) const {
  if (places_.all == 0) return std::nullopt;
  if (!places_.full) return Time(0);
  const Seconds wait(static_cast<double>(ahead + 1) * place_seconds_ / (freed_ * places_.all));
  return std::chrono::duration_cast<Time>(std::min(wait, kExpectedMost));
}

}  // namespace slipstream
