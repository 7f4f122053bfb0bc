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

// Numbers of rows are multiples of this. On a CPU torch makes a program for each shape of a product
// that it has not met lately, and that takes as long as the product of hundreds of rows.
inline constexpr int64_t kRowsTogether = 32;
constexpr int64_t whole_rows(int64_t rows) { return (rows + kRowsTogether - 1) / kRowsTogether * kRowsTogether; }

struct HeadBatch {
  at::Tensor features;  // [chats, tokens, width + hidden] bf16; zeros behind the end of a shorter chat
  at::Tensor tokens;    // [chats, tokens] i64; zeros there, too
  int64_t first = 0;

  // Tokens outside the draft vocabulary that are learned, too, ascending: extra token i is index
  // draft vocabulary + i.
  at::Tensor extra;  // [extra] i64

  // The rows that every unrolled step learns from: indices into chats * rows.
  at::Tensor rows;  // [learned] i64

  struct Chat {
    int64_t answer = 0;  // the row that predicts the answer's first token
    // [its rows] the target's likeliest next token and the chat's own one, as indices of the draft
    // vocabulary and the extra tokens; -1: in neither.
    std::vector<int64_t> choice, next;
  };
  std::vector<Chat> chats;

  // A copy for that device, where it is used next.
  HeadBatch on(at::Device device) const;
  int64_t learned_rows() const { return rows.numel(); }
};

// Makes batches. Threads: any number at once.
class HeadBatcher {
 public:
  // steps: of unrolling. device: where the batches will go. extra_tokens: of a chat, at most: those
  // that the target chose there, and those that were said. `data` outlives this.
  HeadBatcher(const HeadConfig& config, const HeadData& data, int steps, at::Device device, int32_t extra_tokens = 0);

  // An error if features must be computed, and that fails.
  Result<HeadBatch> of(std::span<const FeatureDocument* const> documents) const;

 private:
  std::vector<TokenId> extra_of(std::span<const FeatureDocument* const> documents) const;
  HeadBatch::Chat chat_of(const FeatureDocument& document, int64_t first, std::span<const TokenId> extra) const;

  const HeadData& data_;
  int64_t cols_, steps_, vocabulary_;
  size_t extra_tokens_;
  at::Device device_;
  std::vector<int64_t> index_;  // [vocabulary] of each token in the draft vocabulary; -1: not in it
};

}  // namespace slipstream::train
