// Makes the masks of a step on a thread of its own while the step runs, in the order of the rows:
// they are there when the rows are sampled. A row that is sampled earlier makes its own.
#pragma once

#include <atomic>
#include <latch>
#include <memory>
#include <span>

#include "common/runtime/task_thread.h"
#include "common/sampling/row_mask.h"

namespace slipstream {

class MasksAhead {
 public:
  // Null while no step had a mask to make, later the thread that makes them.
  using Thread = std::shared_ptr<TaskThread>;

  // REQUIRES: `masks` stay until this is destroyed, and no other MasksAhead uses the thread.
  MasksAhead(Thread& thread, std::span<const std::shared_ptr<const RowMask>> masks);
  // Returns when no mask is being made there any more: nothing reads a grammar behind the step.
  ~MasksAhead();
  MasksAhead(const MasksAhead&) = delete;
  MasksAhead& operator=(const MasksAhead&) = delete;

 private:
  std::atomic<bool> ended_ = false;
  std::shared_ptr<std::latch> idle_ = std::make_shared<std::latch>(1);  // shared: who counts down may be the last to touch it
};

}  // namespace slipstream
