#include "tools/slipstream/verify/question_pool.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

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

Result<void> QuestionPool::run(size_t count, Progress& progress,
                               const std::function<Result<void>(ClientPair&, size_t)>& task) const {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  Result<void> outcome;  // guarded by mutex
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < std::min(static_cast<size_t>(streams), count); ++i) {
      threads.emplace_back([&] {
        ClientPair clients{connect(servers.reference), connect(servers.candidate)};
        // Threads take the next question from a shared counter, so that slow answers do not delay
        // the others.
        for (size_t at = next++; at < count; at = next++) {
          auto done = task(clients, at);
          if (!done) {
            next = count;  // no thread begins another task
            std::lock_guard lock(mutex);
            if (outcome) outcome = std::move(done);
            return;
          }
          progress.step();
        }
      });
    }
  }
  return outcome;
}

}  // namespace slipstream::command::verify
