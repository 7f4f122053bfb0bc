// The chats of each step of a head's training. While a step is computed, a thread makes the next
// one's: it reads features from the disk, or lets the target compute them.
//
// Which chats a step has is a function of seed and step, so nothing need be kept to go on with a
// training that was cut off. An epoch has each chat once, in an order of its own.
#pragma once

#include <cstdint>
#include <future>
#include <vector>

#include "common/base/result.h"
#include "tools/train/head_batch.h"
#include "tools/train/head_data.h"

namespace slipstream::train {

struct StepBatches {
  std::vector<HeadBatch> batches;
  int64_t rows = 0;  // that each step of the unrolling learns from, of all of them
};

struct BatchSizes {
  int64_t batch = 16;       // chats of a step
  int64_t micro_batch = 1;  // chats that are computed at once
  uint64_t seed = 1;
};

class HeadBatches {
 public:
  // `batcher` and `data` outlive this.
  HeadBatches(const HeadBatcher& batcher, const HeadData& data, const BatchSizes& sizes);
  ~HeadBatches();
  HeadBatches(const HeadBatches&) = delete;
  HeadBatches& operator=(const HeadBatches&) = delete;

  // Of that step; the first is 0. `more`: the one after it will be asked for next.
  Result<StepBatches> of(int64_t step, bool more);

 private:
  std::vector<const FeatureDocument*> documents(int64_t step);
  std::vector<const FeatureDocument*> by_length(std::vector<const FeatureDocument*> documents) const;
  Result<StepBatches> made(const std::vector<const FeatureDocument*>& documents) const;

  const HeadBatcher& batcher_;
  const HeadData& data_;
  BatchSizes sizes_;
  int64_t epoch_ = -1;  // whose order is in order_
  std::vector<uint32_t> order_;
  int64_t next_step_ = -1;  // that next_ is of
  std::future<Result<StepBatches>> next_;
};

}  // namespace slipstream::train
