#include "services/router/waiting_queue.h"

#include <algorithm>
#include <tuple>

namespace slipstream {

WaitingQueue::Waiter WaitingQueue::next_of(int32_t priority, TenantId tenant) const {
  const auto now = round_.find(priority);
  uint64_t newest = now == round_.end() ? 0 : now->second;
  for (const Waiter& other : waiting_) {
    if (!other.lost_verifier && other.priority == priority && other.tenant == tenant) newest = std::max(newest, other.round);
  }
  return {.priority = priority, .tenant = tenant, .round = newest + 1};
}

WaitingQueue::Waiters::const_iterator WaitingQueue::place_of(const Waiter& waiter) const {
  const auto rank = [](const Waiter& one) { return std::tuple(!one.lost_verifier, one.priority, one.round); };
  return std::ranges::upper_bound(waiting_, rank(waiter), {}, rank);
}

void WaitingQueue::add(RequestId request, int32_t priority, TenantId tenant) {
  Waiter waiter = next_of(priority, tenant);
  waiter.request = request;
  waiting_.insert(place_of(waiter), waiter);
}

void WaitingQueue::add_front(RequestId request) { waiting_.push_front({.request = request, .lost_verifier = true}); }

size_t WaitingQueue::ahead_of(int32_t priority, TenantId tenant) const {
  return static_cast<size_t>(place_of(next_of(priority, tenant)) - waiting_.begin());
}

void WaitingQueue::remove(RequestId request) {
  const auto at = std::ranges::find(waiting_, request, &Waiter::request);
  if (at == waiting_.end()) return;
  const int32_t priority = at->priority;
  waiting_.erase(at);
  forget_rounds(priority);
}

void WaitingQueue::serve(RequestId request) {
  const auto at = std::ranges::find(waiting_, request, &Waiter::request);
  if (at == waiting_.end()) return;
  if (!at->lost_verifier) {
    uint64_t& round = round_[at->priority];
    round = std::max(round, at->round);
  }
  remove(request);
}

// Rounds are compared among requests that wait at the same time, so a priority at which nothing
// waits begins anew.
void WaitingQueue::forget_rounds(int32_t priority) {
  const auto waits = [&](const Waiter& one) { return !one.lost_verifier && one.priority == priority; };
  if (std::ranges::none_of(waiting_, waits)) round_.erase(priority);
}

}  // namespace slipstream
