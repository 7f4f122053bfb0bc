// Tells requests that came before the router was told to stop from those that come later.
//
//   Door::Pass pass = door.enter();
//   door.close();             // at the stop; later passes are null
//   door.inside() == 0        // the last copy of each pass has gone
//   door.shut();              // at the end of the drain: who is still inside gives up
//
// Thread-safe. Outlives its passes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace slipstream {

class Door {
 public:
  using Pass = std::shared_ptr<const Door>;  // null: it came too late

  Pass enter() {
    if (state_ != State::open) return nullptr;
    ++inside_;
    return {this, [](const Door* door) { --door->inside_; }};
  }
  void close() { state_ = State::closed; }
  void shut() { state_ = State::shut; }
  bool is_shut() const { return state_ == State::shut; }
  uint64_t inside() const { return inside_; }

 private:
  enum class State : uint8_t { open, closed, shut };
  std::atomic<State> state_ = State::open;
  mutable std::atomic<uint64_t> inside_ = 0;
};

}  // namespace slipstream
