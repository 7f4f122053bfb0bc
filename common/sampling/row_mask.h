// The mask of one row of a step, which may be made after the step has begun: the row's logits are
// there only at its end.
//
//   const RowMask mask([&] { return guide.allowed_after(path); });
//   ...                                       // another thread may call get(), to have it made by then
//   if (const TokenMask* allowed = mask.get()) edits.allow_only(*allowed);
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "common/sampling/token_mask.h"

namespace slipstream {

class RowMask {
 public:
  using Mask = std::shared_ptr<const TokenMask>;

  explicit RowMask(Mask made) : mask_(std::move(made)), made_(true) {}
  // make: called once at most, on the thread that asks first. It owns what it reads.
  explicit RowMask(std::function<Mask()> make) : make_(std::move(make)) {}

  // Makes it, or waits until it is made. Null: it is not known what is allowed, so no token can be
  // chosen. Thread-safe.
  const TokenMask* get() const {
    if (!made()) {
      std::lock_guard lock(mutex_);
      if (!made()) {
        mask_ = std::exchange(make_, nullptr)();
        made_.store(true, std::memory_order_release);
      }
    }
    return mask_.get();
  }
  bool made() const { return made_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  mutable std::function<Mask()> make_;  // guarded by mutex_
  mutable Mask mask_;                   // written before made_ is set
  mutable std::atomic<bool> made_{false};
};

}  // namespace slipstream
