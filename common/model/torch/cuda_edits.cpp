#include "common/model/torch/cuda_edits.h"

#include <algorithm>
#include <cstring>

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
  room_ = {.rows = more(room_.rows, need.rows),
           .edits = more(room_.edits, need.edits),
           .masks = more(room_.masks, need.masks),
           .vocabulary = std::max(room_.vocabulary, need.vocabulary),
           .words = std::max(room_.words, need.words)};
  ByteLayout layout;
  rows_at_ = layout.add(room_.rows, sizeof(cuda::EditedRow));
  rules_at_ = layout.add(room_.rows, sizeof(cuda::RowRule));
  edits_at_ = layout.add(room_.edits, sizeof(LogitEdit));
  masks_at_ = layout.add(room_.masks, sizeof(uint32_t));
  const auto pinned = [&](at::ScalarType type) { return at::TensorOptions(type).pinned_memory(place_.device.is_cuda()); };
  host_ = at::zeros({layout.bytes()}, pinned(at::kByte));
  device_ = at::zeros({layout.bytes()}, place_.of(at::kByte));
  logits_ = at::zeros({room_.rows * room_.vocabulary}, place_.of(at::kFloat));
  scratch_ = at::zeros({room_.rows * static_cast<int64_t>(sizeof(cuda::SampleScratch))}, place_.of(at::kByte));
  choices_ = at::zeros({room_.rows * room_.words}, place_.of(at::kInt));
  chosen_on_host_ = at::zeros({room_.rows * room_.words}, pinned(at::kInt));
}

// The masks come last, so that what the step does not use of them is not copied.
void CudaEdits::stage(const Step& step) {
  auto* host = host_.mutable_data_ptr<uint8_t>();
  std::memcpy(host + rows_at_, rows_.data(), rows_.size() * sizeof(rows_[0]));
  std::memcpy(host + edits_at_, edits_.data(), edits_.size() * sizeof(LogitEdit));
  std::memcpy(host + masks_at_, masks_.data(), masks_.size() * sizeof(uint32_t));
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

std::optional<const float*> CudaEdits::of(const Step& step, int32_t wanted) const {
  const auto row = std::ranges::lower_bound(step.processed, wanted, {}, &ProcessedRow::wanted);
  if (row == step.processed.end() || row->wanted != wanted) return std::nullopt;
  return logits_.const_data_ptr<float>() + (row - step.processed.begin()) * row_.vocabulary;
}

void CudaEdits::finish(const Step& step, Tensor out) const {
  const auto words = static_cast<size_t>(out.cols);
  const auto* from = chosen_on_host_.const_data_ptr<int32_t>();
  for (const ProcessedRow& row : step.processed) {
    std::copy_n(from, words, static_cast<int32_t*>(out.data) + static_cast<size_t>(row.wanted) * words);
    from += words;
  }
}

}  // namespace slipstream
