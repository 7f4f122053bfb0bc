#include "tests/e2e/scripted/delayed_drafter.h"

#include <algorithm>

namespace slipstream {

void DelayedDrafter::on(Event event, Time now, std::vector<Effect>& effects) {
  if (const auto* advance = std::get_if<From<Advance>>(&event)) {
    const Time deadline = std::chrono::microseconds(advance->message.tuning.deadline_us);
    due_[{advance->peer, advance->message.fence.sequence}] = now + std::max(Time(0), deadline + offset_);
  } else if (const auto* release = std::get_if<From<Release>>(&event)) {
    due_.erase({release->peer, release->message.sequence});
  }
  std::vector<Effect> inner;
  inner_.on(std::move(event), now, inner);
  for (Effect& effect : inner) hold(std::move(effect), now, effects);

  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    effects.push_back(std::move(waiting_.begin()->second));
    waiting_.erase(waiting_.begin());
  }
  std::optional<Time> next = inner_alarm_;
  if (!waiting_.empty()) next = std::min(next.value_or(Time::max()), waiting_.begin()->first);
  if (next) effects.push_back(WakeAt{*next});
}

void DelayedDrafter::hold(Effect effect, Time now, std::vector<Effect>& effects) {
  if (const auto* wake = std::get_if<WakeAt>(&effect)) {
    inner_alarm_ = wake->at;
  } else if (auto* tree = std::get_if<To<Tree>>(&effect)) {
    const auto due = due_.find({tree->peer, tree->message.fence.sequence});
    waiting_.emplace(due == due_.end() ? now : due->second, std::move(*tree));
  } else {
    effects.push_back(std::move(effect));
  }
}

}  // namespace slipstream
