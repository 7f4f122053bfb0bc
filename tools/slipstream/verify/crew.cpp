#include "tools/slipstream/verify/crew.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace slipstream::command::verify {

Result<void> Crew::run(size_t count, Progress& progress, const std::function<Result<void>(Lines&, size_t)>& task) const {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  Result<void> outcome;  // under the mutex
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < std::min(static_cast<size_t>(streams), count); ++i) {
      threads.emplace_back([&] {
        Lines lines{connect(sides.reference), connect(sides.candidate)};
        for (size_t at = next++; at < count; at = next++) {
          auto done = task(lines, at);
          if (!done) {
            next = count;
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
