#include "services/router/router.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "services/router/router_state.h"

namespace slipstream {
namespace {

constexpr Time kBetweenFailureLines = std::chrono::seconds(5);  // the log names failed requests no more often

// The facts of all workers are made anew when a load has changed. Where many workers heartbeat,
// that would be work by the square of their number, so it is done after so long for each of them.
constexpr size_t kWorkersAtOnce = 64;  // fewer: at once
constexpr Time kBetweenLoads{50};

}  // namespace

Router::Router(RouterConfig config) : state_(std::make_unique<State>(std::move(config))) {}
Router::~Router() = default;
const RouterCounters& Router::counters() const { return state_->counters; }

void Router::on(Event event, Time now, std::vector<Effect>& effects) {
  State& state = *state_;
  state.check_clock(now, effects);
  if (state.admits(event, now, effects)) {
    std::visit([&](auto&& e) { state.on(std::forward<decltype(e)>(e), now, effects); }, std::move(event));
  }
  state.check_drafters(now, effects);
  state.check_tunings(now, effects);
  state.set_alarm(now, effects);
  state.admission.observe(state.workers, now);
  state.publish(now);
}

// Workers go first: what they lose can start elsewhere at this very event.
void Router::State::on(const Woke&, Time now, Effects& effects) {
  alarm.reset();
  check_workers(now, effects);
  check_requests(now, effects);
  check_tuner(now);
  start_waiting(now, effects);
  move_to_idle_verifiers(now, effects);
  log_failures(now, effects);
}

void Router::State::log_failures(Time now, Effects& effects) {
  if (failures_not_logged == 0 || now < log_failures_at) return;
  log_failures_at = now + kBetweenFailureLines;
  const uint64_t count = std::exchange(failures_not_logged, 0);
  const std::string who = count == 1 ? "1 request" : fmt::format("{} requests", count);
  warn(fmt::format("{} failed, the last because: {}", who, newest_failure), effects);
}

// A request that runs is looked at with each heartbeat. One that waits, starts or owes an Ack has
// closer deadlines: it needs every tick.
void Router::State::set_alarm(Time now, Effects& effects) {
  const auto needs_ticks = [](const auto& entry) { return !entry.second.runs() || entry.second.at_verifier().ack_owed; };
  const bool soon = std::ranges::any_of(requests, needs_ticks);
  const Time next = soon ? std::min(next_heartbeat, now + ms(config.tick_ms)) : next_heartbeat;
  if (alarm && *alarm <= std::max(next, now)) return;
  alarm = next;
  effects.push_back(WakeAt{next});
}

void Router::State::publish(Time now) {
  counters.waiting = admission.queue().size();
  counters.live = requests.size() - admission.queue().size();
  counters.expected_wait_seconds = std::chrono::duration<double>(admission.expected_wait().value_or(Time(0))).count();
  workers_changed |= loads_changed && now >= loads_not_before;
  if (!std::exchange(workers_changed, false)) return;
  publish_workers();
  loads_changed = false;
  const size_t known = workers.all().size();
  loads_not_before = now + (known > kWorkersAtOnce ? kBetweenLoads * static_cast<int64_t>(known) : Time(0));
}

}  // namespace slipstream
