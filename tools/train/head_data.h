// The chats that a draft head is trained on, and those that are held out, with what the target
// computes of them: from feature shards, or computed when they are asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "tools/train/feature_collector.h"
#include "tools/train/feature_shard.h"

namespace slipstream::train {

class HeadData {
 public:
  // Opens all shards of a folder. Of so many chats one, the last, is held out. Errors: those of
  // FeatureShard::open(); shards of several targets; fewer chats than one of each kind.
  static Result<HeadData> open(const std::filesystem::path& folder, uint64_t tokenizer, int64_t held_out_every);

  // Runs all chats through the target once, since all of its choices must be known, and keeps
  // features of as many as `bytes_max` holds; the others are computed anew whenever they are asked
  // for. computed: called with the tokens of some chats that are; false ends it with an error.
  struct Computing {
    int64_t held_out_every = 40;
    uint64_t bytes_max = 0;
    std::function<bool(int64_t tokens)> computed;
  };
  static Result<HeadData> compute(std::vector<ChatDocument> chats, FeatureCollector collector, const Computing& how);

  const FeatureOrigin& origin() const { return origin_; }
  // Without features, where they are not kept: features() has those.
  std::span<const FeatureDocument> train() const { return train_; }
  std::span<const FeatureDocument> held_out() const { return held_out_; }
  // Of a document of this data; in `room`, if they are computed. Threads: any number at once.
  Result<std::span<const uint16_t>> features(const FeatureDocument& document, std::vector<uint16_t>& room) const;
  uint64_t hash() const { return hash_; }  // of all shards, or of all chats
  int64_t tokens_max() const;              // of a chat
  int64_t tokens_of(int64_t chats) const;  // of those that are trained on, in the mean

 private:
  struct Source {
    FeatureCollector collector;
    std::mutex mutex;  // one caller at a time
  };
  void split(std::span<const FeatureDocument> documents, int64_t held_out_every);

  std::vector<FeatureShard> shards_;
  std::vector<CollectedDocument> computed_;
  std::unique_ptr<Source> source_;  // null: all features are in shards_
  FeatureOrigin origin_;
  uint64_t hash_ = 0;
  std::vector<FeatureDocument> train_, held_out_;
};

// The layers whose inputs a draft head reads, of features that have behind them what the final norm
// read. An error if they lack it, or are of another target than `model`. folder: theirs, for words.
Result<std::vector<int32_t>> head_taps(const FeatureOrigin& origin, const std::filesystem::path& model,
                                       const LlamaConfig& target, const std::filesystem::path& folder);

// The `size` tokens of a vocabulary that are most frequent in these answers and among the target's
// choices in them, ascending. Of equally frequent ones those of lower id.
std::vector<TokenId> frequent_tokens(std::span<const FeatureDocument> documents, int32_t vocabulary, int32_t size);

// The root mean square of each number of a feature, over at least some thousand tokens. It leaves
// the first token of a document out, whose residual is many times as large as any other's.
// Returns [width] numbers above 0; width: of the features, which may have others behind them.
Result<std::vector<float>> feature_scales(const HeadData& data, int64_t width);

}  // namespace slipstream::train
