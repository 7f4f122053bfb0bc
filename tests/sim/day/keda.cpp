#include "tests/sim/day/keda.h"

#include <algorithm>
#include <cmath>

namespace slipstream::sim {
namespace {

constexpr int kPodsAtOnce = 4;  // behavior.scaleUp: by so many, or to the double, within 15 s

}  // namespace

int Keda::look(double now, std::span<const double> values) {
  if (now >= next_poll_) {
    next_poll_ = now + object_.polling;
    poll(now, std::ranges::any_of(values, [](double value) { return value > 0; }));
  }
  if (now >= next_look_) {
    next_look_ = now + kHpaEvery;
    if (replicas_ > 0) scale(now, values);
  }
  return replicas_;
}

void Keda::poll(double now, bool active) {
  if (active) active_ = now;
  if (object_.least > 0) return;
  if (replicas_ == 0 && active) {
    replicas_ = 1;
    wanted_.clear();
  } else if (replicas_ > 0 && !active && now - active_.value_or(0) > object_.cooldown) {
    replicas_ = 0;
  }
}

void Keda::scale(double now, std::span<const double> values) {
  int wants = 0;
  for (const double value : values) {
    const double ratio = value / replicas_;
    wants = std::max(wants, std::abs(1 - ratio) <= kHpaTolerance ? replicas_ : static_cast<int>(std::ceil(value)));
  }
  wants = std::clamp(wants, std::max(object_.least, 1), object_.most);
  wanted_.emplace_back(now, wants);
  while (wanted_.size() > 1 && wanted_.front().first <= now - object_.down_window) wanted_.pop_front();
  while (!changes_.empty() && changes_.front().first <= now - kHpaEvery) changes_.pop_front();
  if (wants < replicas_) {
    for (const auto& [when, before] : wanted_) wants = std::max(wants, std::min(before, replicas_));
  } else {
    const int before = changes_.empty() ? replicas_ : changes_.front().second;
    wants = std::min(wants, std::max(replicas_, std::max(2 * before, before + kPodsAtOnce)));
  }
  if (wants != replicas_) changes_.emplace_back(now, replicas_);
  replicas_ = wants;
}

}  // namespace slipstream::sim
