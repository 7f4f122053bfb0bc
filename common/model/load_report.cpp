#include "common/model/load_report.h"

#include <fmt/format.h>

#include "common/base/log.h"

namespace slipstream {
namespace {

constexpr std::chrono::seconds kBetweenLines{1};
constexpr uint64_t kMegabyte = 1'000'000;

}  // namespace

std::string LoadReport::summary() const {
  const std::string loaded =
      fmt::format("read {} MB in {:.2f} s, packed them in {:.2f} s", bytes / kMegabyte, read_seconds, pack_seconds);
  return trial_seconds > 0 ? fmt::format("{}, timed steps for {:.2f} s", loaded, trial_seconds) : loaded;
}

std::optional<std::string> LoadLines::due(const LoadProgress& progress, Time now) {
  if (now - said_ < kBetweenLines) return std::nullopt;
  said_ = now;
  return fmt::format("{} {} of {} MB", progress.part == LoadPart::read ? "read" : "packed", progress.bytes / kMegabyte,
                     progress.all / kMegabyte);
}

// The lambda owns the state, so each load has its own pace of lines.
OnLoad log_load() {
  using Clock = std::chrono::steady_clock;
  return [lines = LoadLines(Clock::now())](const LoadProgress& progress) mutable {
    if (const auto line = lines.due(progress, Clock::now())) log_info("{}", *line);
  };
}

}  // namespace slipstream
