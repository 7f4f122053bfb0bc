// A folder of a test's own, gone with the test, and shards in it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tools/train/sequences.h"
#include "tools/train/token_shard.h"

namespace slipstream::train {

inline constexpr uint64_t kTokenizer = 7;  // the hash of a tokenizer, in tests without one
inline constexpr int32_t kVocabulary = 64;

class TestFolder {
 public:
  TestFolder() : path_(std::filesystem::path(testing::TempDir()) / name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::filesystem::path operator/(const std::string& file) const { return path_ / file; }
  void write(const std::string& file, const std::string& text) const { std::ofstream(path_ / file, std::ios::binary) << text; }
  std::string read(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(path_ / file, std::ios::binary).rdbuf();
    return text.str();
  }
  TokenShard shard(const std::string& file, const std::vector<TokenId>& tokens) const {
    EXPECT_TRUE(write_shard(path_ / file, kTokenizer, tokens).has_value());
    return TokenShard::open(path_ / file, kTokenizer, kVocabulary).value();
  }

 private:
  static std::string name() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string("slipstream_train_") + test->test_suite_name() + "_" + test->name() + std::to_string(getpid());
  }
  std::filesystem::path path_;
};

// Counting up, from 0 after each 64.
inline std::vector<TokenId> counting(int count) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(i % kVocabulary);
  return tokens;
}

}  // namespace slipstream::train
