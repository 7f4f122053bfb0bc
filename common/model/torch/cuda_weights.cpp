#include "common/model/torch/cuda_weights.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "common/base/check_beside_torch.h"
#include "common/model/torch/byte_layout.h"
#include "common/model/torch/cuda_step.h"
#include "common/model/torch/gpu.h"

namespace slipstream {

void CudaWeights::make_room(int64_t rows, int64_t tokens) {
  if (rows <= rows_room_ && tokens <= tokens_room_) return;
  const int64_t more_rows = grown(rows_room_, rows), more_tokens = grown(tokens_room_, tokens);
  rows_room_ = tokens_room_ = 0;  // until all of it is there: an allocation may throw
  ByteLayout layout;
  rows_at_ = layout.add(more_rows, sizeof(cuda::WeighedRow));
  rules_at_ = layout.add(more_rows, sizeof(cuda::RowRule));
  tokens_at_ = layout.add(more_tokens, sizeof(TokenId));
  weights_at_ = layout.add(more_tokens, sizeof(uint64_t));
  states_at_ = layout.add(more_rows, sizeof(cuda::RowState));
  bytes_ = layout.bytes();
  host_ = at::zeros({bytes_}, at::TensorOptions(at::kByte).pinned_memory(place_.device.is_cuda()));
  device_ = at::zeros({bytes_}, place_.of(at::kByte));
  rows_room_ = more_rows, tokens_room_ = more_tokens;
}

RowWeights CudaWeights::weigh(const Step& step, std::span<const RowTokens> rows, Tensor logits, const CudaEdits& edits) {
  size_t tokens = 0;
  for (const RowTokens& row : rows) tokens += row.tokens.size();
  make_room(std::ssize(rows), static_cast<int64_t>(std::max(tokens, size_t{kDraftDistributionTokensMax} + 1)));
  vocabulary_ = logits.cols;
  auto* asked = host_at<cuda::WeighedRow>(rows_at_);
  auto* rules = host_at<cuda::RowRule>(rules_at_);
  auto* token = host_at<TokenId>(tokens_at_);
  int32_t first = 0;
  for (const RowTokens& row : rows) {
    const int32_t end = first + static_cast<int32_t>(row.tokens.size());
    const float* own = static_cast<const float*>(logits.data) + int64_t{row.wanted} * vocabulary_;
    const float* edited = edits.edited(step, row.wanted);
    *asked++ = {.logits = edited != nullptr ? edited : own, .first = first, .end = end};
    CHECK(row.params.temperature > 0, "weights at temperature {}", row.params.temperature);
    *rules++ = rule_of({.params = row.params});
    token = std::ranges::copy(row.tokens, token).out;
    first = end;
  }
  kernels_.copy(device_at<uint8_t>(0), host_at<uint8_t>(0), static_cast<size_t>(weights_at_));
  kernels_.weigh_rows({.rows = device_at<cuda::WeighedRow>(rows_at_),
                       .rules = device_at<cuda::RowRule>(rules_at_),
                       .tokens = device_at<TokenId>(tokens_at_),
                       .weights = device_at<uint64_t>(weights_at_),
                       .states = device_at<cuda::RowState>(states_at_),
                       .count = static_cast<int32_t>(rows.size()),
                       .vocabulary = vocabulary_});
  kernels_.copy(host_at<uint8_t>(weights_at_), device_at<uint8_t>(weights_at_), static_cast<size_t>(bytes_ - weights_at_));
  wait_for(place_.device);
  const auto* told = host_at<uint64_t>(weights_at_);
  RowWeights weights{.totals = {}, .weights = {told, told + tokens}};
  for (const cuda::RowState& state : std::span(host_at<cuda::RowState>(states_at_), rows.size())) {
    weights.totals.push_back(state.usable != 0 ? state.total : 0);
  }
  return weights;
}

// The tokens to pass over and the answer take the place of the tokens that were asked for.
TokenId CudaWeights::token_at(size_t i, uint64_t mark, std::span<const TokenId> without) {
  CHECK(std::ssize(without) < tokens_room_, "{} tokens to pass over, {} were weighed", without.size(), tokens_room_);
  auto* tokens = host_at<TokenId>(tokens_at_);
  auto* there = device_at<TokenId>(tokens_at_);
  std::ranges::copy(without, tokens + 1);
  kernels_.copy(there + 1, tokens + 1, without.size_bytes());
  kernels_.find_token({.row = device_at<cuda::WeighedRow>(rows_at_) + i,
                       .rule = device_at<cuda::RowRule>(rules_at_) + i,
                       .state = device_at<cuda::RowState>(states_at_) + i,
                       .without = there + 1,
                       .token = there,
                       .mark = mark,
                       .without_count = static_cast<int32_t>(without.size()),
                       .vocabulary = vocabulary_});
  kernels_.copy(tokens, there, sizeof(TokenId));
  wait_for(place_.device);
  CHECK(*tokens >= 0, "the weights of a row end before {}", mark);
  return *tokens;
}

}  // namespace slipstream
