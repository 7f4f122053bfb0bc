// One verify step as the actor plans it and the compute thread runs it: ids and numbers only, no logits.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/ids.h"
#include "common/kv/kv_move.h"
#include "common/model/ops.h"

namespace slipstream {

// The buffers behind a Step (model/ops.h), reused from step to step: the job hands them back with its result.
struct StepPlan {
  std::vector<int32_t> token, position, slot, sequence, visible;  // [rows]
  std::vector<uint64_t> ancestors;                                // [rows]
  std::vector<int32_t> block_table;                               // [sequences, blocks_max]
  int32_t blocks_max = 0;
  std::vector<RowSampling> sampling;  // [wanted]
  std::vector<int32_t> wanted;        // [wanted] row indices, ascending
  std::vector<KvMove> moves;

  int rows() const { return static_cast<int>(token.size()); }
  Step view() const;
  void clear();
};

// What the job returns.
struct Choices {
  std::vector<TokenId> chosen;  // [wanted] the target's token after that row; -1: its logits were not finite
  uint32_t forward_us = 0;
};

}  // namespace slipstream
