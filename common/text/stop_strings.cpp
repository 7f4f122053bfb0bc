#include "common/text/stop_strings.h"

#include <utility>

namespace slipstream {

StopAutomaton::StopAutomaton(const std::vector<std::string>& stops) : states_(1) {
  for (const std::string& stop : stops) add(stop);
  link();
}

void StopAutomaton::add(std::string_view stop) {
  uint32_t at = kRoot;
  for (const char byte : stop) {
    const auto [child, is_new] = states_[at].next.try_emplace(byte, static_cast<uint32_t>(states_.size()));
    const uint32_t next = child->second;
    if (is_new) states_.push_back({.next = {}, .depth = states_[at].depth + 1});
    at = next;
  }
  states_[at].ends = states_[at].depth;
}

// Visits states by depth, so that a state's shorter ones are linked before it.
void StopAutomaton::link() {
  std::vector<uint32_t> queue{kRoot};
  for (size_t i = 0; i < queue.size(); ++i) {
    const uint32_t from = queue[i];
    for (const auto& [byte, to] : states_[from].next) {
      if (from != kRoot) states_[to].shorter = after(states_[from].shorter, byte);
      if (states_[to].ends == 0) states_[to].ends = states_[states_[to].shorter].ends;
      queue.push_back(to);
    }
  }
}

uint32_t StopAutomaton::after(uint32_t state, char byte) const {
  for (;; state = states_[state].shorter) {
    if (const auto at = states_[state].next.find(byte); at != states_[state].next.end()) return at->second;
    if (state == kRoot) return kRoot;
  }
}

StopStrings::Piece StopStrings::push(std::string_view text) {
  if (stopped_) return {{}, true};
  held_ += text;
  for (size_t read = held_.size() - text.size(); read < held_.size(); ++read) {
    at_ = stops_->after(at_, held_[read]);
    if (const uint32_t ends = (*stops_)[at_].ends; ends > 0) {
      stopped_ = true;
      std::string stop = held_.substr(read + 1 - ends, ends);
      held_.resize(read + 1 - (shown_ ? 0 : ends));
      return {std::exchange(held_, {}), true, std::move(stop)};
    }
  }
  const size_t safe = held_.size() - (*stops_)[at_].depth;
  Piece piece{held_.substr(0, safe), false};
  held_.erase(0, safe);
  return piece;
}

std::string StopStrings::flush() { return std::exchange(held_, {}); }

}  // namespace slipstream
