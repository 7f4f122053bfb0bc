// Chats that a draft head learns from at once, on the host: what goes to the device that computes
// them, and what only the host needs. Rows are those of HeadInput, from `first` on: row r of a chat
// is of its token first + r, and predicts the next.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "common/base/result.h"
#include "tools/train/head_config.h"
#include "tools/train/head_data.h"

namespace slipstream::train {

struct HeadBatch {
  at::Tensor features;  // [chats, tokens, width + hidden] bf16; zeros behind the end of a shorter chat
  at::Tensor tokens;    // [chats, tokens] i64; zeros there, too
  int64_t first = 0;

  // The rows that each unrolled step learns from, one step behind the other: indices into chats *
  // rows. Those of every step are among those of step 0: `place` says where.
  at::Tensor rows, place;       // [learned] i64
  std::vector<int64_t> counts;  // [steps]

  struct Chat {
    int64_t answer = 0;                 // the row that predicts the answer's first token
    std::vector<int64_t> choice, next;  // [its rows] the target's likeliest next token and the chat's own one, as
                                        // indices of the draft vocabulary; -1: not in it
  };
  std::vector<Chat> chats;

  // A copy for that device, where it is used next.
  HeadBatch on(at::Device device) const;
  int64_t learned_rows() const { return counts.front(); }  // of step 0
};

// Makes batches. Threads: any number at once.
class HeadBatcher {
 public:
  // steps: of unrolling. device: where the batches will go. `data` outlives this.
  HeadBatcher(const HeadConfig& config, const HeadData& data, int steps, at::Device device);

  // An error if features must be computed, and that fails.
  Result<HeadBatch> of(std::span<const FeatureDocument* const> documents) const;
  // The rows of the chat's answer whose choice is in the draft vocabulary.
  int64_t learnable_rows(const FeatureDocument& document) const;

 private:
  HeadBatch::Chat chat_of(const FeatureDocument& document, int64_t first) const;

  const HeadData& data_;
  int64_t cols_, steps_;
  at::Device device_;
  std::vector<int64_t> index_;  // [vocabulary] of each token in the draft vocabulary; -1: not in it
};

}  // namespace slipstream::train
