#include "common/model/torch/cuda_edits.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "common/model/processed_row.h"
#include "common/model/torch/byte_layout.h"
#include "common/model/torch/cuda_step.h"

namespace slipstream {

void CudaEdits::read(const Step& step, int32_t vocabulary) {
  rows_.clear();
  edits_.clear();
  masks_.clear();
  for (const ProcessedRow& row : step.processed) {
    read_edits(step, row, vocabulary, row_);
    cuda::EditedRow& own = rows_.emplace_back();
    own.row = row.wanted;
    own.first = static_cast<int32_t>(edits_.size());
    edits_.insert(edits_.end(), row_.penalties.begin(), row_.penalties.end());
    own.penalties = static_cast<int32_t>(edits_.size());
    edits_.insert(edits_.end(), row_.biases.begin(), row_.biases.end());
    own.end = static_cast<int32_t>(edits_.size());
    if (row_.allowed.empty()) continue;
    own.mask = static_cast<int32_t>(masks_.size() / row_.allowed.size());
    masks_.insert(masks_.end(), row_.allowed.begin(), row_.allowed.end());
  }
}

void CudaEdits::make_room(const Room& need) {
  const bool holds = need.rows <= room_.rows && need.edits <= room_.edits && need.masks <= room_.masks &&
                     need.vocabulary <= room_.vocabulary && need.words <= room_.words;
  if (holds) return;
  const Room more{.rows = grown(room_.rows, need.rows),
                  .edits = grown(room_.edits, need.edits),
                  .masks = grown(room_.masks, need.masks),
                  .vocabulary = std::max(room_.vocabulary, need.vocabulary),
                  .words = std::max(room_.words, need.words)};
  room_ = {};  // until all of it is there: an allocation may throw
  ByteLayout layout;
  rows_at_ = layout.add(more.rows, sizeof(cuda::EditedRow));
  rules_at_ = layout.add(more.rows, sizeof(cuda::RowRule));
  edits_at_ = layout.add(more.edits, sizeof(LogitEdit));
  masks_at_ = layout.add(more.masks, sizeof(uint32_t));
  const auto pinned = [&](at::ScalarType type) { return at::TensorOptions(type).pinned_memory(place_.device.is_cuda()); };
  host_ = at::zeros({layout.bytes()}, pinned(at::kByte));
  device_ = at::zeros({layout.bytes()}, place_.of(at::kByte));
  logits_ = at::zeros({more.rows * more.vocabulary}, place_.of(at::kFloat));
  scratch_ = at::zeros({more.rows * static_cast<int64_t>(sizeof(cuda::SampleScratch))}, place_.of(at::kByte));
  choices_ = at::zeros({more.rows * more.words}, place_.of(at::kInt));
  chosen_on_host_ = at::zeros({more.rows * more.words}, pinned(at::kInt));
  room_ = more;
}

// The masks come last, so that what the step does not use of them is not copied.
void CudaEdits::stage(const Step& step) {
  auto* host = host_.mutable_data_ptr<uint8_t>();
  std::ranges::copy(rows_, reinterpret_cast<cuda::EditedRow*>(host + rows_at_));
  std::ranges::copy(edits_, reinterpret_cast<LogitEdit*>(host + edits_at_));
  std::ranges::copy(masks_, reinterpret_cast<uint32_t*>(host + masks_at_));
  auto* rules = reinterpret_cast<cuda::RowRule*>(host + rules_at_);
  for (const cuda::EditedRow& row : rows_) *rules++ = rule_of(step.sampling[static_cast<size_t>(row.row)]);
  kernels_.copy(device_.mutable_data_ptr(), host, static_cast<size_t>(masks_at_) + masks_.size() * sizeof(uint32_t));
}

void CudaEdits::choose(const Step& step, Tensor logits, Tensor out, bool ranked) {
  read(step, logits.cols);
  const auto count = static_cast<int32_t>(rows_.size());
  make_room(
      {.rows = count, .edits = std::ssize(edits_), .masks = std::ssize(masks_), .vocabulary = logits.cols, .words = out.cols});
  stage(step);
  const auto* device = device_.const_data_ptr<uint8_t>();
  kernels_.edit_rows({.logits = static_cast<const float*>(logits.data),
                      .rows = reinterpret_cast<const cuda::EditedRow*>(device + rows_at_),
                      .edits = reinterpret_cast<const LogitEdit*>(device + edits_at_),
                      .masks = reinterpret_cast<const uint32_t*>(device + masks_at_),
                      .out = logits_.mutable_data_ptr<float>(),
                      .count = count,
                      .vocabulary = logits.cols});
  void* choices = choices_.mutable_data_ptr();
  const cuda::SampleArgs args{.logits = logits_.const_data_ptr<float>(),
                              .rules = reinterpret_cast<const cuda::RowRule*>(device + rules_at_),
                              .ids = ranked ? nullptr : static_cast<int32_t*>(choices),
                              .ranked = ranked ? static_cast<cuda::RankedToken*>(choices) : nullptr,
                              .scratch = reinterpret_cast<cuda::SampleScratch*>(scratch_.mutable_data_ptr()),
                              .rows = count,
                              .vocabulary = logits.cols,
                              .count = ranked ? out.cols / kRankedWords : 0};
  ranked ? kernels_.rank_tokens(args) : kernels_.sample_tokens(args);
  kernels_.copy(chosen_on_host_.mutable_data_ptr(), choices, static_cast<size_t>(count) * static_cast<size_t>(out.cols) * 4);
}

void CudaEdits::finish(const Step& step, Tensor out) const {
  const auto words = static_cast<size_t>(out.cols);
  const auto* from = chosen_on_host_.const_data_ptr<int32_t>();
  for (const ProcessedRow& row : step.processed) {
    std::copy_n(from, words, static_cast<int32_t*>(out.data) + static_cast<size_t>(row.wanted) * words);
    from += words;
  }
}

const float* CudaEdits::edited(const Step& step, int32_t wanted) const {
  const auto row = std::ranges::lower_bound(step.processed, wanted, {}, &ProcessedRow::wanted);
  if (row == step.processed.end() || row->wanted != wanted) return nullptr;
  return logits_.const_data_ptr<float>() + (row - step.processed.begin()) * row_.vocabulary;
}

}  // namespace slipstream
