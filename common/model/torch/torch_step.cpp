#include "common/model/torch/torch_step.h"

#include <ATen/ATen.h>

namespace slipstream {

at::Tensor index_tensor(std::span<const int32_t> numbers, const TorchPlace& place) {
  // from_blob() takes a pointer to what may be written; nothing here writes.
  auto* data = const_cast<int32_t*>(numbers.data());
  return at::from_blob(data, {static_cast<int64_t>(numbers.size())}, at::kInt).to(place.of(at::kLong));
}

void write_extra(std::span<const ExtraToken> extra, int64_t* tokens, float* bonuses) {
  for (const ExtraToken& each : extra) *tokens++ = each.token, *bonuses++ = each.bonus;
}

TorchStep TorchStep::on(const TorchPlace& place, const Step& step) {
  const at::Tensor slot = index_tensor(step.slot, place);
  at::Tensor extra_token, extra_bonus;
  if (!step.extra.empty()) {
    const auto rows = static_cast<int64_t>(step.extra.size()) / kExtraTokens;
    extra_token = at::empty({rows, kExtraTokens}, at::kLong);
    extra_bonus = at::empty({rows, kExtraTokens}, at::kFloat);
    write_extra(step.extra, extra_token.mutable_data_ptr<int64_t>(), extra_bonus.mutable_data_ptr<float>());
    extra_token = extra_token.to(place.device);
    extra_bonus = extra_bonus.to(place.device);
  }
  return {.host = &step,
          .token = index_tensor(step.token, place),
          .position = index_tensor(step.position, place),
          .parent_slot = index_tensor(step.parent_slot, place),
          .slot = slot,
          .block = slot.div(kBlockTokens, "trunc"),
          .offset = slot.remainder(kBlockTokens),
          .wanted = index_tensor(step.wanted, place),
          .extra_token = extra_token,
          .extra_bonus = extra_bonus};
}

}  // namespace slipstream
