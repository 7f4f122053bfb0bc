#include "services/verifier/masks_ahead.h"

#include <algorithm>

namespace slipstream {

MasksAhead::MasksAhead(Thread& thread, std::span<const std::shared_ptr<const RowMask>> masks) {
  const auto made = [](const auto& mask) { return mask->made(); };
  const auto make = [this, masks, idle = idle_] {
    for (const auto& mask : masks) {
      if (ended_) break;
      mask->get();
    }
    idle->count_down();
  };
  const bool wanted = !std::ranges::all_of(masks, made);
  if (wanted && thread == nullptr) thread = std::make_shared<TaskThread>(1);
  if (!wanted || !thread->post(make)) idle_->count_down();  // closed: each row makes its own
}

MasksAhead::~MasksAhead() {
  ended_ = true;
  idle_->wait();
}

}  // namespace slipstream
