#include "tools/slipstream/load/timeline.h"

#include <algorithm>
#include <utility>

namespace slipstream::command::load {
namespace {

void join(Window& first, const Window& second) {
  first.scheduled += second.scheduled;
  first.tokens += second.tokens;
  first.failed += second.failed;
  first.ttft.merge(second.ttft);
  first.e2e.merge(second.e2e);
}

}  // namespace

Window& Timeline::at(Offset time) {
  time = std::max(time, Offset(0));
  while (static_cast<size_t>(time / width_) >= kWindowsMax) {
    width_ *= 2;
    std::vector<Window> joined((windows_.size() + 1) / 2);
    for (size_t i = 0; i < windows_.size(); ++i) join(joined[i / 2], windows_[i]);
    windows_ = std::move(joined);
  }
  const auto index = static_cast<size_t>(time / width_);
  if (index >= windows_.size()) windows_.resize(index + 1);
  return windows_[index];
}

void Timeline::add(const Sample& sample) {
  ++at(sample.scheduled).scheduled;
  if (sample.ending != Ending::complete) {
    if (sample.ending != Ending::cut) ++at(sample.ended).failed;
    return;
  }
  for (const Chunk& chunk : sample.chunks) at(chunk.at).tokens += static_cast<uint64_t>(chunk.tokens);
  Window& window = at(sample.scheduled);
  window.e2e.add(sample.ended - sample.scheduled);
  if (!sample.chunks.empty()) window.ttft.add(sample.chunks.front().at - sample.scheduled);
}

}  // namespace slipstream::command::load
