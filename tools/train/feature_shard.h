// A feature shard: chats with what the target computed of them, on which a draft head is trained.
//
//   header     corpus/sealed_file.h, magic SLIPFEAT
//   FeatureOrigin, FeatureCounts
//   [documents + 1] int64   where each document's tokens begin; the last: all tokens
//   [documents] int64       index of the answer's first token, within the document
//   [tokens] int32          the ids
//   [tokens] int32          the target's likeliest next token after each; -1 before the answer
//   [tokens, taps, hidden]  bf16: what each tapped layer of the target read
//
// The file is mapped. Immutable; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/checkpoint/mapped_file.h"

namespace slipstream::train {

inline constexpr size_t kTapsMax = 8;

// Whose features these are.
struct FeatureOrigin {
  uint64_t weights = 0;  // the target's hash (fingerprint.h)
  int32_t hidden = 0;
  int32_t taps = 0;
  std::array<int32_t, kTapsMax> tap{};  // layers, ascending; -1 behind the last

  // At most kTapsMax taps.
  static FeatureOrigin of(uint64_t weights, int32_t hidden, std::span<const int32_t> taps);
  int64_t width() const { return int64_t{taps} * hidden; }
  bool operator==(const FeatureOrigin&) const = default;
};

// A document and what was computed of it. A view, or the owner of a vector gives one.
struct FeatureDocument {
  std::span<const TokenId> tokens, choices;  // [tokens]
  int64_t answer = 0;                        // index of the answer's first token
  std::span<const uint16_t> features;        // [tokens, taps * hidden] bf16
};

class FeatureShard {
 public:
  // Reads the whole file once, to check it. Errors name the file and say what is wrong: not a
  // shard, cut short, damaged, or of another tokenizer.
  static Result<FeatureShard> open(const std::filesystem::path& path, uint64_t tokenizer);

  const FeatureOrigin& origin() const { return origin_; }
  std::span<const FeatureDocument> documents() const { return documents_; }
  uint64_t hash() const { return hash_; }  // of all that it holds

 private:
  FeatureShard(MappedFile file, uint64_t hash) : file_(std::move(file)), hash_(hash) {}

  MappedFile file_;
  uint64_t hash_;
  FeatureOrigin origin_;
  std::vector<FeatureDocument> documents_;
};

// Writes a shard of these documents in place of what the file had.
Result<void> write_feature_shard(const std::filesystem::path& path, uint64_t tokenizer, const FeatureOrigin& origin,
                                 std::span<const FeatureDocument> documents);

}  // namespace slipstream::train
