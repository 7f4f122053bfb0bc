#include "common/ops_page/health.h"

#include <fmt/format.h>

namespace slipstream {

std::string why_stuck(const Standstill& still, std::chrono::milliseconds job_stuck) {
  const auto seconds = [](std::chrono::milliseconds ms) { return static_cast<double>(ms.count()) / 1000; };
  if (still.loop >= kLoopStuck) {
    return fmt::format("the event loop has not turned for {:.1f} s (it may stand for {:.0f} s)", seconds(still.loop),
                       seconds(kLoopStuck));
  }
  if (still.job >= job_stuck) {
    return fmt::format("the present compute job has run for {:.1f} s (--job-stuck-ms {})", seconds(still.job),
                       job_stuck.count());
  }
  return "";
}

}  // namespace slipstream
