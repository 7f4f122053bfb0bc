// Builds a Step (ops.h): the buffers behind its spans, and the verbs that fill them. An actor or a
// draft method plans one (engine/pass.h), a LanguageModel runs it. It holds ids and numbers only,
// no logits, and is reused from step to step.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/kv/kv_move.h"
#include "common/model/ops.h"

namespace slipstream {

// A wanted row for which the logprob of the token after it is wanted as well.
struct LogprobRow {
  int32_t wanted = 0;   // index among the wanted rows
  int32_t parent = -1;  // index in StepPlan::logprobs of the tree row's parent; -1: it is no tree's row, or the root
  int32_t top = 0;      // alternatives to report
  TokenId next = -1;    // the token after a row of context; -1: the one that the step emits there
};

// The fields are those of Step, which explains them. Whether its logits are read, says who runs it.
struct StepPlan {
  std::vector<int32_t> token, position, slot, parent_slot, sequence, visible;  // [rows]
  std::vector<uint64_t> ancestors;                                             // [rows]
  std::vector<int32_t> block_table;                                            // [sequences, blocks_max]
  int32_t blocks_max = 0;
  std::vector<RowSampling> sampling;  // [wanted]
  std::vector<int32_t> wanted;        // [wanted] row indices, ascending
  std::vector<KvMove> moves;
  std::vector<ProcessedRow> processed;
  std::vector<std::shared_ptr<const LogitsProcessor>> logits_processors;  // shared: a sequence may end while the step runs
  std::vector<TokenId> path;
  std::vector<std::shared_ptr<const RowMask>> masks;
  std::vector<ExtraToken> extra;     // [rows, kExtraTokens] or none
  std::vector<LogprobRow> logprobs;  // not in the Step: the verify job computes them from the model's logits

  struct Row {
    TokenId token = 0;
    int32_t position = 0, slot = 0, parent_slot = -1, sequence = 0;
    int32_t visible = 0;
    uint64_t ancestors = 0;
  };

  int rows() const { return static_cast<int>(token.size()); }
  int sequences() const { return blocks_max == 0 ? 0 : static_cast<int>(block_table.size()) / blocks_max; }
  int32_t add_sequence(std::span<const int32_t> blocks);  // returns its index. REQUIRES (unchecked): at most blocks_max
  void add(const Row& row);
  void want(const RowSampling& how);  // makes the row added last a wanted row
  int32_t add_logits_processor(std::shared_ptr<const LogitsProcessor> logits_processor);  // returns its index
  // Applies that logits processor (-1: none) and that mask (null: none) to the row wanted last. The
  // row's path is the drafted tokens among its ancestors: all but row 0, the root. token_of(j): the
  // token of the tree's row j.
  template <class TokenOf>
  void process(int32_t logits_processor, uint64_t ancestors, const TokenOf& token_of, std::shared_ptr<const RowMask> mask) {
    const auto begin = static_cast<int32_t>(path.size());
    for (uint64_t left = ancestors & ~uint64_t{1}; left != 0; left &= left - 1)
      path.push_back(token_of(std::countr_zero(left)));
    processed.push_back({.wanted = static_cast<int32_t>(wanted.size()) - 1,
                         .logits_processor = logits_processor,
                         .path_begin = begin,
                         .path_size = static_cast<int32_t>(path.size()) - begin,
                         .mask = mask == nullptr ? -1 : static_cast<int32_t>(masks.size())});
    if (mask != nullptr) masks.push_back(std::move(mask));
  }
  Step view() const;
  void clear();  // keeps blocks_max and the capacity
};

}  // namespace slipstream
