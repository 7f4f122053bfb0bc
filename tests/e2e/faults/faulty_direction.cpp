#include "tests/e2e/faults/faulty_direction.h"

#include <algorithm>
#include <utility>

namespace slipstream::faults {

// Null: no message of ours.
Counts* FaultyDirection::counts_of(const Unit& unit) {
  return unit.boundary ? &tally_.at(*unit.boundary, direction_) : nullptr;
}

void FaultyDirection::take(Unit unit, Time now) {
  Counts* counts = counts_of(unit);
  tally_.strange += counts == nullptr && unit.kind == Unit::Kind::message;
  const uint64_t number = ++taken_;
  Time due = std::max(now, spike_ends_);
  if (counts == nullptr) return hold(due, {std::move(unit), number});
  ++counts->messages;
  if (random_.chance(weather_.loss)) return void(++counts->lost);
  if (random_.chance(weather_.spike)) {
    ++counts->spikes;
    due = spike_ends_ = now + weather_.spike_lasts;
  }
  counts->delayed += due > now;
  if (random_.chance(weather_.duplicate)) {
    ++counts->doubled;
    hold(due + random_.between(Time(0), weather_.reorder_most), {.unit = unit, .number = number, .copy = true});
  }
  if (random_.chance(weather_.reorder)) due += random_.between(Time(0), weather_.reorder_most);
  hold(due, {std::move(unit), number});
}

void FaultyDirection::hold(Time due, Held held) {
  bytes_ += held.unit.bytes.size();
  held_.emplace(due, std::move(held));
}

void FaultyDirection::release(Time now, std::vector<std::byte>& out) {
  while (!held_.empty() && held_.begin()->first <= now) {
    const Held held = std::move(held_.extract(held_.begin()).mapped());
    bytes_ -= held.unit.bytes.size();
    out.insert(out.end(), held.unit.bytes.begin(), held.unit.bytes.end());
    if (Counts* counts = counts_of(held.unit)) counts->overtaken += !held.copy && held.number < newest_released_;
    newest_released_ = std::max(newest_released_, held.number);
  }
}

std::optional<Time> FaultyDirection::next() const {
  if (held_.empty()) return std::nullopt;
  return held_.begin()->first;
}

void FaultyDirection::cut(std::vector<std::byte>& out) {
  if (held_.empty()) return;
  const std::vector<std::byte>& bytes = held_.begin()->second.unit.bytes;
  out.insert(out.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2));
  drop();
}

void FaultyDirection::drop() {
  for (const auto& [due, held] : std::exchange(held_, {})) {
    if (Counts* counts = counts_of(held.unit)) counts->gone += !held.copy;
  }
  bytes_ = 0;
}

}  // namespace slipstream::faults
