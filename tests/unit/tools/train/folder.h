// A folder of a test's own with shards in it.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/common/checkpoint/folder.h"
#include "tools/train/sequences.h"
#include "tools/train/token_shard.h"

namespace slipstream::train {

inline constexpr uint64_t kTokenizer = 7;  // the hash of a tokenizer, in tests without one
inline constexpr int32_t kVocabulary = 64;

class TestFolder : public Folder {
 public:
  std::filesystem::path operator/(const std::string& file) const { return path() / file; }
  std::string read(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(path() / file, std::ios::binary).rdbuf();
    return text.str();
  }
  TokenShard shard(const std::string& file, const std::vector<TokenId>& tokens) const {
    EXPECT_TRUE(write_shard(path() / file, kTokenizer, tokens).has_value());
    return TokenShard::open(path() / file, kTokenizer, kVocabulary).value();
  }
};

// Counting up, from 0 after each 64.
inline std::vector<TokenId> counting(int count) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(i % kVocabulary);
  return tokens;
}

}  // namespace slipstream::train
