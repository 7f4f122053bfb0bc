#include "common/text/stop_strings.h"

#include <algorithm>
#include <utility>

namespace slipstream {

StopStrings::StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) { std::erase(stops_, std::string()); }

StopStrings::Piece StopStrings::push(std::string_view text) {
  if (stopped_) return {{}, true};
  held_ += text;
  if (const size_t at = first_match(); at != std::string::npos) {
    stopped_ = true;
    held_.resize(at);
    return {std::exchange(held_, {}), true};
  }
  const size_t safe = safe_bytes();
  Piece piece{held_.substr(0, safe), false};
  held_.erase(0, safe);
  return piece;
}

std::string StopStrings::flush() { return std::exchange(held_, {}); }

// held_ has no complete stop string before a push, so every match ends in the newest text, and the
// first occurrence of each stop string is the one that ends first.
size_t StopStrings::first_match() const {
  size_t begin = std::string::npos;
  size_t end = std::string::npos;
  for (const std::string& stop : stops_) {
    const size_t at = held_.find(stop);
    if (at == std::string::npos || std::pair(at + stop.size(), at) >= std::pair(end, begin)) continue;
    begin = at;
    end = at + stop.size();
  }
  return begin;
}

// Tries the suffixes of held_, the longest first, that are short enough to begin a stop string.
size_t StopStrings::safe_bytes() const {
  size_t longest = 0;
  for (const std::string& stop : stops_) longest = std::max(longest, stop.size());
  for (size_t at = held_.size() - std::min(held_.size(), longest); at < held_.size(); ++at) {
    const std::string_view tail = std::string_view(held_).substr(at);
    if (std::ranges::any_of(stops_, [&](const std::string& stop) { return stop.starts_with(tail); })) return at;
  }
  return held_.size();
}

}  // namespace slipstream
