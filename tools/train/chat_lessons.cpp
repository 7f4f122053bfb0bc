#include "tools/train/chat_lessons.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

namespace slipstream::train {
namespace {

constexpr int kSteps = 1;  // rows read nothing of an unrolling

// The model's hidden states of the rows that the batch learns from.
at::Tensor learned_rows(const LlamaModule& model, const HeadBatch& batch) {
  const at::Tensor hidden = model.hidden(batch.tokens);
  return hidden.narrow(1, batch.first, hidden.size(1) - batch.first).flatten(0, 1).index_select(0, batch.rows);
}

}  // namespace

ChatLessons::ChatLessons(const HeadConfig& config, HeadData data, const HeadTarget& target, Divergence divergence,
                         const LessonSizes& sizes, uint64_t seed, at::ScalarType compute)
    : sizes_(sizes),
      divergence_(divergence),
      device_(target.output.device()),
      output_(config, target.final_norm, target.output, compute),
      data_(std::move(data)),
      batcher_(config, data_, kSteps, device_),
      batches_(batcher_, data_, {.batch = sizes.batch, .micro_batch = sizes.micro_batch, .seed = seed}) {}

TaughtRows ChatLessons::taught(const HeadBatch& batch) const {
  const auto logits = [this, read = output_.read(batch)](int64_t first, int64_t rows) {
    return output_.logits(read.narrow(0, first, rows));
  };
  return {logits, divergence_};
}

Result<at::Tensor> ChatLessons::learn(const LlamaModule& model, int64_t step) {
  TRY(const StepBatches chats, batches_.of(step, /*more=*/true));
  at::Tensor loss;
  for (const HeadBatch& made : chats.batches) {
    if (made.rows.numel() == 0) continue;
    const HeadBatch batch = made.on(device_);
    const at::Tensor more = distil_backward(model, learned_rows(model, batch), taught(batch), static_cast<double>(chats.rows));
    loss = loss.defined() ? loss + more : more;
  }
  if (!loss.defined()) return fail("step {}: its {} chats have nothing to learn", step + 1, sizes_.batch);
  return loss;
}

Result<std::optional<HeldOutLoss>> ChatLessons::held_out(const LlamaModule& model) {
  const at::NoGradGuard no_gradients;
  std::vector<const FeatureDocument*> documents;
  for (const FeatureDocument& document : data_.held_out()) documents.push_back(&document);
  documents.resize(std::min(documents.size(), static_cast<size_t>(kHeldOutLessonChatsMax)));
  HeldOutLoss result;
  const auto at_once = static_cast<size_t>(sizes_.micro_batch);
  for (size_t begin = 0; begin < documents.size(); begin += at_once) {
    TRY(const HeadBatch made, batcher_.of(std::span(documents).subspan(begin, std::min(at_once, documents.size() - begin))));
    if (made.rows.numel() == 0) continue;
    const HeadBatch batch = made.on(device_);
    result.agreement.add(agreement(model, learned_rows(model, batch), taught(batch)));
  }
  result.loss = result.agreement.divergence / static_cast<double>(std::max<int64_t>(1, result.agreement.rows));
  return result;
}

}  // namespace slipstream::train
