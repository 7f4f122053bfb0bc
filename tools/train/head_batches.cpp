#include "tools/train/head_batches.h"

#include <algorithm>
#include <utility>

#include "tools/train/epoch_order.h"

namespace slipstream::train {

HeadBatches::HeadBatches(const HeadBatcher& batcher, const HeadData& data, const BatchSizes& sizes)
    : batcher_(batcher), data_(data), sizes_(sizes) {}

HeadBatches::~HeadBatches() {
  if (next_.valid()) next_.wait();
}

std::vector<const FeatureDocument*> HeadBatches::documents(int64_t step) {
  const auto count = static_cast<int64_t>(data_.train().size());
  std::vector<const FeatureDocument*> documents;
  for (int64_t n = step * sizes_.batch; n < (step + 1) * sizes_.batch; ++n) {
    if (n / count != epoch_) {
      epoch_ = n / count;
      order_ = epoch_order(static_cast<size_t>(count), epoch_, sizes_.seed);
    }
    documents.push_back(&data_.train()[order_[static_cast<size_t>(n % count)]]);
  }
  return documents;
}

Result<StepBatches> HeadBatches::made(const std::vector<const FeatureDocument*>& documents) const {
  StepBatches step;
  const auto at_once = static_cast<size_t>(sizes_.micro_batch);
  for (size_t at = 0; at < documents.size(); at += at_once) {
    TRY(HeadBatch batch, batcher_.of(std::span(documents).subspan(at, std::min(at_once, documents.size() - at))));
    step.rows += batch.learned_rows();
    step.batches.push_back(std::move(batch));
  }
  return step;
}

Result<StepBatches> HeadBatches::of(int64_t step, bool more) {
  if (next_.valid() && next_step_ != step) next_.get();  // the training went on elsewhere
  Result<StepBatches> batches = next_.valid() ? next_.get() : made(by_length(documents(step)));
  if (more && batches) {
    next_step_ = step + 1;
    next_ = std::async(std::launch::async, [this, chats = by_length(documents(step + 1))] { return made(chats); });
  }
  return batches;
}

// Chats of one length waste no room when they are computed at once.
std::vector<const FeatureDocument*> HeadBatches::by_length(std::vector<const FeatureDocument*> documents) const {
  if (sizes_.micro_batch > 1) {
    std::ranges::stable_sort(documents, {}, [](const FeatureDocument* document) { return document->tokens.size(); });
  }
  return documents;
}

}  // namespace slipstream::train
