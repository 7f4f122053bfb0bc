// The chats that a draft head is trained on, and those that are held out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "tools/train/feature_shard.h"

namespace slipstream::train {

class HeadData {
 public:
  // Opens all shards of a folder. Of so many chats one, the last, is held out. Errors: those of
  // FeatureShard::open(); shards of several targets; fewer chats than one of each kind.
  static Result<HeadData> open(const std::filesystem::path& folder, uint64_t tokenizer, int64_t held_out_every);

  const FeatureOrigin& origin() const { return shards_.front().origin(); }
  std::span<const FeatureDocument> train() const { return train_; }
  std::span<const FeatureDocument> held_out() const { return held_out_; }
  uint64_t hash() const;  // of all shards

 private:
  std::vector<FeatureShard> shards_;
  std::vector<FeatureDocument> train_, held_out_;
};

// The `size` tokens of a vocabulary that are most frequent in these answers and among the target's
// choices in them, ascending. Of equally frequent ones those of lower id.
std::vector<TokenId> frequent_tokens(std::span<const FeatureDocument> documents, int32_t vocabulary, int32_t size);

// The root mean square of each number of a feature, over at least some thousand tokens. It leaves
// the first token of a document out, whose residual is many times as large as any other's.
// Returns [width] numbers above 0.
std::vector<float> feature_scales(std::span<const FeatureDocument> documents, int64_t width);

}  // namespace slipstream::train
