#include "tools/train/sequences.h"

#include <utility>

#include <xxhash.h>

#include "tools/train/epoch_order.h"

namespace slipstream::train {

Sequences::Sequences(std::vector<TokenShard> shards, int64_t length, uint64_t seed)
    : shards_(std::move(shards)), length_(length), seed_(seed) {
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    const auto tokens = static_cast<int64_t>(shards_[shard].tokens().size());
    for (int64_t at = 0; at + length_ < tokens; at += length_) starts_.push_back({static_cast<uint32_t>(shard), at});
  }
}

Result<Sequences> Sequences::cut(std::vector<TokenShard> shards, int64_t length, uint64_t seed) {
  Sequences sequences(std::move(shards), length, seed);
  if (sequences.count() == 0) {
    return fail("no shard has {} tokens, which make one sequence: add text, or lower --length", length + 1);
  }
  return sequences;
}

std::span<const TokenId> Sequences::at(int64_t n) {
  const int64_t epoch = n / count();
  if (epoch != epoch_) {
    order_ = epoch_order(starts_.size(), epoch, seed_);
    epoch_ = epoch;
  }
  const Start start = starts_[order_[static_cast<size_t>(n % count())]];
  return shards_[start.shard].tokens().subspan(static_cast<size_t>(start.token), static_cast<size_t>(length_ + 1));
}

uint64_t Sequences::hash() const {
  std::vector<uint64_t> hashes;
  for (const TokenShard& shard : shards_) hashes.push_back(shard.hash());
  return XXH3_64bits(hashes.data(), hashes.size() * sizeof(hashes[0]));
}

}  // namespace slipstream::train
