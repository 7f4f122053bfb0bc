#include "tools/train/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace slipstream::train {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval{200};
constexpr std::chrono::seconds kLogInterval{30};
constexpr double kNewShare = 0.1;  // of the last step in the running average
constexpr const char* kWipe = "\r\x1b[K";

std::string time_text(std::chrono::seconds time) {
  const auto seconds = time.count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 60 * 60) return fmt::format("{} min", (seconds + 30) / 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
}

}  // namespace

std::string progress_text(const Progress& progress) {
  const std::string of = progress.steps > 0 ? fmt::format(" of {}", progress.steps) : "";
  return fmt::format("step {}{}  loss {:.3f}  {} tokens/s  {} left", progress.step, of, progress.loss,
                     static_cast<int64_t>(progress.tokens_per_s), time_text(progress.left));
}

std::string rate_text(int64_t done, int64_t all, const std::string& unit, double per_s) {
  const double left = per_s > 0 ? static_cast<double>(all - done) / per_s : 0;
  return fmt::format("{} of {} {}  {} {}/s  {} left", done, all, unit, static_cast<int64_t>(per_s), unit,
                     time_text(std::chrono::seconds(static_cast<int64_t>(left))));
}

RateLine::RateLine(int64_t all, std::string unit)
    : all_(all), unit_(std::move(unit)), terminal_(isatty(STDOUT_FILENO) == 1), began_(Clock::now()) {}

RateLine::~RateLine() {
  if (terminal_ && shown_ != Clock::time_point()) fmt::print("\n");
}

void RateLine::add(int64_t count, Clock::time_point now) {
  done_ += count;
  added_ += count;
  const bool due = shown_ == Clock::time_point() || now - shown_ >= (terminal_ ? kTerminalInterval : kLogInterval);
  if (!due && done_ != all_) return;
  shown_ = now;
  const double seconds = std::max(1e-9, std::chrono::duration<double>(now - began_).count());
  const std::string text = rate_text(done_, all_, unit_, static_cast<double>(added_) / seconds);
  if (terminal_) {
    fmt::print("{}{}", kWipe, text);
  } else {
    fmt::print("{}\n", text);
  }
  std::fflush(stdout);
}

ProgressLine::ProgressLine(int64_t steps, int64_t tokens_of_a_step, int64_t done)
    : steps_(steps),
      tokens_of_a_step_(tokens_of_a_step),
      terminal_(isatty(STDOUT_FILENO) == 1),
      last_step_(done),
      last_time_(Clock::now()) {}

ProgressLine::ProgressLine(Clock::time_point ends, int64_t tokens_of_a_step, int64_t done)
    : steps_(0),
      tokens_of_a_step_(tokens_of_a_step),
      ends_(ends),
      terminal_(isatty(STDOUT_FILENO) == 1),
      last_step_(done),
      last_time_(Clock::now()) {}

ProgressLine::~ProgressLine() {
  if (terminal_ && shown_ != Clock::time_point()) fmt::print("\n");
}

bool ProgressLine::due(Clock::time_point now) const {
  return shown_ == Clock::time_point() || now - shown_ >= (terminal_ ? kTerminalInterval : kLogInterval);
}

void ProgressLine::step(int64_t step, double loss, Clock::time_point now) {
  const auto steps = static_cast<double>(std::max<int64_t>(1, step - last_step_));
  const double seconds = std::chrono::duration<double>(now - last_time_).count() / steps;
  const double kept = std::pow(1 - kNewShare, steps);
  step_seconds_ = step_seconds_ == 0 ? seconds : kept * step_seconds_ + (1 - kept) * seconds;
  last_step_ = step;
  last_time_ = now;
  if (!due(now) && step != steps_) return;
  shown_ = now;
  const double left = steps_ > 0 ? static_cast<double>(steps_ - step) * step_seconds_
                                 : std::max(0.0, std::chrono::duration<double>(ends_ - now).count());
  const std::string text =
      progress_text({.step = step,
                     .steps = steps_,
                     .loss = loss,
                     .tokens_per_s = static_cast<double>(tokens_of_a_step_) / std::max(1e-9, step_seconds_),
                     .left = std::chrono::seconds(static_cast<int64_t>(left))});
  if (terminal_) {
    fmt::print("{}{}", kWipe, text);
  } else {
    fmt::print("{}\n", text);
  }
  std::fflush(stdout);
}

void ProgressLine::say(const std::string& sentence) {
  fmt::print("{}{}\n", terminal_ ? kWipe : "", sentence);
  std::fflush(stdout);
}

}  // namespace slipstream::train
