// A shard: a file of token ids that models are trained on.
//
//   header    corpus/sealed_file.h, magic SLIPTOKS
//   [tokens]  int32: the texts one after the other, each with the token that ends a text behind it, and chats
//            as they are (an answer that was cut has no such token)
//
// The file is mapped, so that it takes memory as the page cache has room. Immutable; thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/checkpoint/mapped_file.h"

namespace slipstream::train {

inline constexpr int64_t kShardTokensMax = 1 << 28;  // 1 GB; more texts make more shards

class TokenShard {
 public:
  // Reads the whole file once, to check it. tokenizer: the hash of the model's (fingerprint.h).
  // Errors name the file and say what is wrong: not a shard, cut short, damaged, of another
  // tokenizer, or with ids that a model of this vocabulary has not.
  static Result<TokenShard> open(const std::filesystem::path& path, uint64_t tokenizer, int32_t vocabulary);

  std::span<const TokenId> tokens() const { return tokens_; }
  uint64_t hash() const { return hash_; }  // of the tokens

 private:
  TokenShard(MappedFile file, std::span<const TokenId> tokens, uint64_t hash)
      : file_(std::move(file)), tokens_(tokens), hash_(hash) {}

  MappedFile file_;
  std::span<const TokenId> tokens_;
  uint64_t hash_;
};

// Writes a shard of these tokens in place of what the file had.
Result<void> write_shard(const std::filesystem::path& path, uint64_t tokenizer, std::span<const TokenId> tokens);

}  // namespace slipstream::train
