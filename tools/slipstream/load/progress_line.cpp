#include "tools/slipstream/load/progress_line.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace slipstream::command::load {
namespace {

constexpr const char* kWipe = "\r\x1b[K";
constexpr std::chrono::seconds kSpeedOver{1};  // the speed of a redrawn line is that of about the last second

double seconds(Duration span) { return std::chrono::duration<double>(span).count(); }

}  // namespace

std::string progress_text(const std::string& run, const Progress& now, const Progress& before) {
  const double span = seconds(now.elapsed - before.elapsed);
  const double speed = span > 0 ? static_cast<double>(now.tokens - before.tokens) / span : 0;
  std::string text = fmt::format("{}  {:.1f} s  {} done", run, seconds(now.elapsed), now.complete);
  if (now.ended > now.complete) text += fmt::format("  {} failed", now.ended - now.complete);
  text += fmt::format("  {} in flight  {:.0f} tokens/s", now.in_flight, speed);
  if (now.late > 0) text += fmt::format("  {} sent late", now.late);
  return text;
}

ProgressLine::ProgressLine(std::string run) : run_(std::move(run)), redrawn_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (redrawn_) fmt::print(stderr, "{}", kWipe);
}

void ProgressLine::show(const Progress& progress) {
  if (redrawn_) {
    fmt::print(stderr, "{}{}", kWipe, progress_text(run_, progress, older_));
    std::fflush(stderr);
    if (progress.elapsed - shown_.elapsed < kSpeedOver) return;
    older_ = std::exchange(shown_, progress);
  } else if (progress.elapsed - shown_.elapsed >= kPipeInterval) {
    fmt::print(stderr, "{}\n", progress_text(run_, progress, shown_));
    shown_ = progress;
  }
}

}  // namespace slipstream::command::load
