#include "common/model/torch/torch_step.h"

#include <ATen/ATen.h>

namespace slipstream {

at::Tensor index_tensor(std::span<const int32_t> numbers, const TorchPlace& place) {
  // from_blob() takes a pointer to what may be written; nothing here writes.
  auto* data = const_cast<int32_t*>(numbers.data());
  return at::from_blob(data, {static_cast<int64_t>(numbers.size())}, at::kInt).to(place.of(at::kLong));
}

TorchStep TorchStep::on(const TorchPlace& place, const Step& step) {
  const at::Tensor slot = index_tensor(step.slot, place);
  return {.host = &step,
          .token = index_tensor(step.token, place),
          .position = index_tensor(step.position, place),
          .parent_slot = index_tensor(step.parent_slot, place),
          .slot = slot,
          .block = slot.div(kBlockTokens, "trunc"),
          .offset = slot.remainder(kBlockTokens),
          .wanted = index_tensor(step.wanted, place)};
}

}  // namespace slipstream
