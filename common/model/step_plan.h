// One forward pass as an actor or a draft method plans it and a LanguageModel runs it: ids and numbers only, no logits.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/ids.h"
#include "common/kv/kv_move.h"
#include "common/model/ops.h"

namespace slipstream {

// The buffers behind a Step (ops.h), reused from step to step.
struct StepPlan {
  std::vector<int32_t> token, position, slot, sequence, visible;  // [rows]
  std::vector<uint64_t> ancestors;                                // [rows]
  std::vector<int32_t> block_table;                               // [sequences, blocks_max]
  int32_t blocks_max = 0;
  std::vector<RowSampling> sampling;  // [wanted]
  std::vector<int32_t> wanted;        // [wanted] row indices, ascending
  std::vector<KvMove> moves;

  struct Row {
    TokenId token = 0;
    int32_t position = 0, slot = 0, sequence = 0;
    int32_t visible = 0;
    uint64_t ancestors = 0;
  };

  int rows() const { return static_cast<int>(token.size()); }
  int sequences() const { return blocks_max == 0 ? 0 : static_cast<int>(block_table.size()) / blocks_max; }
  int32_t add_sequence(std::span<const int32_t> blocks);  // its index; at most blocks_max, which is set
  void add(const Row& row);
  void want(const RowSampling& how);  // the logits of the row added last
  Step view() const;
  void clear();  // keeps blocks_max and the capacity
};

}  // namespace slipstream
