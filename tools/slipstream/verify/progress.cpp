#include "tools/slipstream/verify/progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace slipstream::command::verify {
namespace {

constexpr std::chrono::milliseconds kInterval{100};
constexpr const char* kWipe = "\r\x1b[K";

}  // namespace

Progress::Progress(std::string what, size_t total)
    : what_(std::move(what)), total_(total), shown_(isatty(STDOUT_FILENO) == 1), next_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (shown_) fmt::print("{}", kWipe);
}

void Progress::step() {
  std::lock_guard lock(mutex_);
  ++done_;
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now < next_) return;
  next_ = now + kInterval;
  fmt::print("{}{} {} of {}", kWipe, what_, done_, total_);
  std::fflush(stdout);
}

}  // namespace slipstream::command::verify
