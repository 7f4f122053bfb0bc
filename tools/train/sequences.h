// Cuts shards into sequences of equal length, and gives them in an order that a seed decides. An
// epoch has each sequence once. The n-th sequence of a training is a function of seed and n, so
// nothing but n is needed to go on with a training that was cut off.
//
//   shard      a b c d e f g h           length 3
//   sequences  a b c d,  d e f g         each predicts its last 3 tokens; the rest of a shard is left out
//
// A sequence may begin in one text and end in the next one: the token between them tells where.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "tools/train/token_shard.h"

namespace slipstream::train {

class Sequences {
 public:
  // An error if the shards are shorter than one sequence.
  static Result<Sequences> cut(std::vector<TokenShard> shards, int64_t length, uint64_t seed);

  int64_t count() const { return static_cast<int64_t>(starts_.size()); }  // of an epoch
  int64_t length() const { return length_; }
  // Sequence n >= 0 of the training: [length + 1] tokens, valid while this lives.
  std::span<const TokenId> at(int64_t n);
  uint64_t hash() const;  // of all shards' tokens

 private:
  struct Start {
    uint32_t shard = 0;
    int64_t token = 0;
  };
  Sequences(std::vector<TokenShard> shards, int64_t length, uint64_t seed);

  std::vector<TokenShard> shards_;
  std::vector<Start> starts_;  // in the order of the shards
  int64_t length_;
  uint64_t seed_;
  int64_t epoch_ = -1;           // whose order is in order_
  std::vector<uint32_t> order_;  // indices of starts_
};

}  // namespace slipstream::train
