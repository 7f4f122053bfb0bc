#include "services/router/http_api/grammar_queue.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"

namespace slipstream {
namespace {

constexpr double kNewestTurn = 0.125;  // its share in the mean of the last ones

}  // namespace

ApiResult<GrammarQueue::Over> GrammarQueue::wait(Request request) {
  const auto over = std::make_shared<std::atomic<bool>>(false);
  const uint64_t by = request.by;
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back({.request = std::move(request), .since = ports_.now(), .over = over});
  }
  if (ports_.post({.run = [this, over] { turn(over); }, .by = by, .over = [over] { return over->load(); }})) return over;
  *over = true;
  return std::unexpected(full());
}

void GrammarQueue::forget_over() {
  take([](const Waiting&) { return false; });
}

void GrammarQueue::turn(const Over& over) {
  const Clock::time_point now = ports_.now();
  for (const Waiting& late : take([&](const Waiting& one) { return now - one.since >= wait_most_; })) {
    late.request.give_up(too_late());
  }
  for (const Waiting& mine : take([&](const Waiting& one) { return one.over == over; })) {
    mine.request.go_on(now - mine.since);
    const Clock::time_point compiled = ports_.now();
    {
      std::lock_guard lock(mutex_);
      const std::chrono::duration<double> took = compiled - now;
      mean_ = mean_.count() == 0 ? took : mean_ + kNewestTurn * (took - mean_);
    }
    const auto known = grammars_.find(mine.request.text);
    if (!known || !*known) continue;
    for (const Waiting& same : take([&](const Waiting& one) { return one.request.text == mine.request.text; })) {
      same.request.go_on(compiled - same.since);
    }
  }
}

std::vector<GrammarQueue::Waiting> GrammarQueue::take(const std::function<bool(const Waiting&)>& is) {
  std::vector<Waiting> taken, dropped;  // destroyed after the lock is released: what they hold may call back
  std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](Waiting& one) {
    if (*one.over) {
      dropped.push_back(std::move(one));
      return true;
    }
    if (!is(one)) return false;
    if (!one.over->exchange(true)) taken.push_back(std::move(one));
    return true;
  });
  return taken;
}

int GrammarQueue::retry_after_s() {
  std::lock_guard lock(mutex_);
  const auto wait = std::ranges::count_if(waiting_, [](const Waiting& one) { return !*one.over; });
  const double seconds = std::ceil(static_cast<double>(wait) * mean_.count());
  return static_cast<int>(std::clamp<double>(seconds, kRetryFullSeconds, kRetryMostSeconds));
}

ApiError GrammarQueue::full() {
  const int retry_after = retry_after_s();
  return {
      .status = 429,
      .message = fmt::format("{} grammars of this API key or address, or {} of all, wait to be compiled here, the limit. Try "
                             "again in {} s.",
                             kGrammarsOfOneWaitingMax, kGrammarsWaitingMax, retry_after),
      .code = "grammars_full",
      .retry_after_s = retry_after};
}

ApiError GrammarQueue::too_late() {
  const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(wait_most_);
  return {.status = 503,
          .message = fmt::format(
              "Other grammars were compiled for {} ms, while this request waited for its own. Try again later.", most.count()),
          .code = "queue_timeout",
          .retry_after_s = retry_after_s()};
}

}  // namespace slipstream
