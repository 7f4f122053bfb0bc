#include "services/router/acceptance_histogram.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace slipstream {
namespace {

size_t begin_of(int length) { return static_cast<size_t>(length) * static_cast<size_t>(length + 1) / 2; }

}  // namespace

void AcceptanceHistogram::add(bool drafted, int length) {
  if (drafted) {
    ++accepted_;
    length_ = length;
  } else {
    count(length);
  }
}

void AcceptanceHistogram::end_step() {
  if (accepted_ > 0) count(length_);
}

void AcceptanceHistogram::add(const AcceptanceHistogram& other) {
  if (steps_.size() < other.steps_.size()) steps_.resize(other.steps_.size());
  std::ranges::transform(other.steps_, steps_, steps_.begin(), std::plus());
}

void AcceptanceHistogram::count(int length) {
  if (longest() < length) steps_.resize(begin_of(length + 1));
  ++steps_[begin_of(length) + static_cast<size_t>(std::min(std::exchange(accepted_, 0), length))];
}

int AcceptanceHistogram::longest() const {
  int length = -1;
  while (begin_of(length + 1) < steps_.size()) ++length;
  return length;
}

std::span<const uint32_t> AcceptanceHistogram::of_length(int length) const {
  return std::span(steps_).subspan(begin_of(length), static_cast<size_t>(length) + 1);
}

std::vector<uint32_t> AcceptanceHistogram::of_all() const {
  std::vector<uint32_t> all(static_cast<size_t>(longest() + 1));
  for (int length = 0; length <= longest(); ++length) {
    const auto steps = of_length(length);
    for (size_t accepted = 0; accepted < steps.size(); ++accepted) all[accepted] += steps[accepted];
  }
  return all;
}

}  // namespace slipstream
