#include "tests/e2e/faults/proxy.h"

#include "common/base/log.h"

namespace slipstream::faults {
namespace {

constexpr size_t kFirstRelayItem = 2;

timespec until(Time due, Time now) {
  const Time left = std::max(due - now, Time(0));
  return {.tv_sec = left.count() / 1'000'000, .tv_nsec = left.count() % 1'000'000 * 1000};
}

}  // namespace

bool Proxy::wait(int other, Time now) {
  items_.assign({{other, POLLIN, 0}, {listener_.fd(), POLLIN, 0}});
  std::optional<Time> due = next_cut_;
  for (const auto& relay : relays_) {
    relay->want(items_);
    if (const auto next = relay->next()) due = std::min(due.value_or(*next), *next);
  }
  const timespec left = until(due.value_or(now), now);
  ppoll(items_.data(), items_.size(), due ? &left : nullptr, nullptr);
  return items_[0].revents != 0;
}

void Proxy::serve(Time now) {
  for (size_t i = 0; i < relays_.size(); ++i) {
    relays_[i]->serve(std::span<const pollfd>(items_).subspan(kFirstRelayItem + 2 * i, 2), now);
  }
  if (next_cut_ && now >= *next_cut_) cut_one(now);
  std::erase_if(relays_, [](const auto& relay) { return relay->over(); });
  if (items_[1].revents != 0) accept_all();
}

void Proxy::accept_all() {
  for (Socket client = accept_from(listener_); client; client = accept_from(listener_)) {
    Result<Socket> upstream = connect_to(plan_.upstream);
    if (!upstream || relays_.size() >= kRelaysMax) {
      ++tally_.refused;
      continue;
    }
    const uint64_t seed = plan_.seed * 1'000'003 + ++tally_.connections;
    relays_.push_back(std::make_unique<Relay>(std::move(client), *std::move(upstream), plan_.weather, seed, tally_));
  }
}

void Proxy::plan_cut(Time now) {
  if (plan_.cut_every > Time(0)) next_cut_ = now + cut_random_.between(Time(1), 2 * plan_.cut_every);
}

void Proxy::cut_one(Time now) {
  plan_cut(now);
  if (relays_.empty()) return;
  ++tally_.cuts;
  cut_random_.pick(std::span(relays_))->cut();
}

}  // namespace slipstream::faults
