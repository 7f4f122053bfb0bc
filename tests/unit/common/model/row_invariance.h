// A token's logits, and the choice made from them, are the same bits alone, in any batch, at any
// tree slot, in a prompt chunk of any size, with any number of threads, after a commit, computed
// anew, from the prefix cache: the ground that "drafts never change a word" stands on. Tests of
// each device that promises it instantiate this suite.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kv/prefix_cache.h"
#include "tests/unit/common/model/models.h"
#include "tests/unit/common/model/rows.h"

namespace slipstream {

// A model on a device under test.
struct OnDevice {
  std::string name;             // of the test
  std::filesystem::path model;  // a test is skipped where it is not
  int32_t tokens = 0;           // of the text under test
  bool slow = false;            // fewer cases
  bool fine_rows = false;
  std::vector<int> threads{1, 2};  // of the devices that it runs on; what is compared is computed with the first
  std::function<Result<std::shared_ptr<Device>>(int threads)> device;
};
inline constexpr int32_t kBlocksMax = 5;  // of one sequence: 160 positions
inline constexpr int32_t kBlocks = 20 * kBlocksMax;

class RowInvariance : public testing::TestWithParam<OnDevice> {
 protected:
  void SetUp() override {
    const OnDevice& under_test = GetParam();
    if (!std::filesystem::exists(under_test.model)) GTEST_SKIP() << kNoRealModel;
    for (const int threads : under_test.threads) {
      const auto device = under_test.device(threads);
      ASSERT_TRUE(device.has_value()) << device.error().message;
      auto target =
          LanguageModel::load(under_test.model, *device, {.cache_blocks = kBlocks, .fine_rows = under_test.fine_rows});
      ASSERT_TRUE(target.has_value()) << target.error().message;
      targets_.push_back(*std::move(target));
    }
    vocabulary_ = static_cast<size_t>(targets_[0].config().vocabulary);
    for (int32_t i = 0; i < under_test.tokens; ++i) text_.push_back(token(i * 7 + i * i % 5));
    alone_ = one_by_one(targets_[0]);
  }

  // Of the cases, the first three for a slow model.
  template <class T>
  std::vector<T> few(std::vector<T> cases) const {
    if (GetParam().slow) cases.resize(3);
    return cases;
  }
  TokenId token(int32_t number) const { return 4 + number % (targets_[0].config().vocabulary - 4); }
  std::span<const TokenId> text(int32_t from, int32_t count) const {
    return std::span(text_).subspan(static_cast<size_t>(from), static_cast<size_t>(count));
  }
  int32_t length() const { return static_cast<int32_t>(text_.size()); }

  // What a position of the text gave.
  struct Row {
    std::vector<float> logits;
    TokenId sampled_tokens;
  };
  std::vector<Row> run(LanguageModel& target, const Rows& rows) {
    const auto sampled_tokens = target.run(rows.view());
    EXPECT_TRUE(sampled_tokens.has_value()) << sampled_tokens.error().message;
    std::vector<Row> out;
    for (size_t i = 0; i < sampled_tokens->size(); ++i) {
      const auto logits = target.logits().subspan(i * vocabulary_, vocabulary_);
      out.push_back({{logits.begin(), logits.end()}, (*sampled_tokens)[i]});
    }
    return out;
  }
  std::vector<Row> one_by_one(LanguageModel& target) {
    BlockTable blocks(pool_);
    EXPECT_TRUE(blocks.reserve(length()));
    std::vector<Row> out;
    for (int32_t at = 0; at < length(); ++at) {
      Rows rows(kBlocksMax);
      rows.prompt(rows.sequence_of(blocks), blocks, text(at, 1), at);
      out.push_back(run(target, rows)[0]);
    }
    return out;
  }
  void expect_equal(const Row& row, int32_t position, const std::string& how) {
    const Row& alone = alone_[static_cast<size_t>(position)];
    const bool same = std::memcmp(row.logits.data(), alone.logits.data(), vocabulary_ * sizeof(float)) == 0;
    EXPECT_TRUE(same) << "logits of position " << position << ", " << how;
    EXPECT_EQ(row.sampled_tokens, alone.sampled_tokens) << "position " << position << ", " << how;
  }
  void feed(LanguageModel& target, const BlockTable& blocks, int32_t count) {
    Rows rows(kBlocksMax);
    rows.prompt(rows.sequence_of(blocks), blocks, text(0, count), 0);
    run(target, rows);
  }

  // Positions from.. of the text as one chunk, each with the bits of before.
  void expect_chunk(LanguageModel& target, const BlockTable& blocks, int32_t from, const std::string& how) {
    Rows rows(kBlocksMax);
    rows.prompt(rows.sequence_of(blocks), blocks, text(from, length() - from), from);
    const auto out = run(target, rows);
    for (int32_t at = from; at < length(); ++at) expect_equal(out[static_cast<size_t>(at - from)], at, how);
  }
  // Another text in the blocks that the next sequences get, so that what they find there is never
  // their own by luck.
  void overwrite_next_blocks(LanguageModel& target) {
    std::vector<BlockTable> tables;
    for (int32_t at = 0; at <= length(); at += kBlockTokens) {
      ASSERT_TRUE(tables.emplace_back(pool_).reserve(kBlockTokens));
      Rows rows(kBlocksMax);
      const std::vector<TokenId> other(kBlockTokens, token(3));
      rows.prompt(rows.sequence_of(tables.back()), tables.back(), other, 0);
      run(target, rows);
    }
  }

  // A tree in which the text's next `depth` tokens hang, each behind `decoys` siblings, so that
  // they lie at slots decoys + 1, 2 decoys + 2, ...
  std::vector<TreeNode> tree_around(int32_t committed, int32_t depth, int32_t decoys) const {
    std::vector<TreeNode> nodes;
    int32_t parent = kRoot;
    for (int32_t level = 1; level <= depth; ++level) {
      for (int32_t i = 0; i < decoys; ++i) nodes.push_back({.token = token(3 * i + level), .parent = parent});
      nodes.push_back({.token = text_[static_cast<size_t>(committed + level)], .parent = parent});
      parent = static_cast<int32_t>(nodes.size()) - 1;
    }
    return nodes;
  }

  BlockPool pool_{kBlocks};
  std::vector<LanguageModel> targets_;  // with one thread, with two; or one alone
  size_t vocabulary_ = 0;
  std::vector<TokenId> text_;
  std::vector<Row> alone_;
};

TEST_P(RowInvariance, OfThreads) {
  if (targets_.size() < 2) GTEST_SKIP() << "threads of the CPU compute nothing of it";
  const auto rows = one_by_one(targets_.back());
  for (int32_t at = 0; at < length(); ++at) expect_equal(rows[static_cast<size_t>(at)], at, "two threads");
}

TEST_P(RowInvariance, OfPromptChunks) {
  for (LanguageModel& target : targets_) {
    for (const int32_t chunk : few<int32_t>({5, 16, length(), 2, 3, 13, 33})) {
      BlockTable blocks(pool_);
      ASSERT_TRUE(blocks.reserve(length()));
      for (int32_t at = 0; at < length(); at += chunk) {
        Rows rows(kBlocksMax);
        const int32_t count = std::min(chunk, length() - at);
        rows.prompt(rows.sequence_of(blocks), blocks, text(at, count), at);
        const auto out = run(target, rows);
        for (int32_t i = 0; i < count; ++i)
          expect_equal(out[static_cast<size_t>(i)], at + i, fmt::format("chunks of {}", chunk));
      }
    }
  }
}

TEST_P(RowInvariance, OfAsManyRowsAsAStepTakes) {
  LanguageModel& target = targets_.back();
  std::vector<BlockTable> tables;
  Rows rows(kBlocksMax);
  std::vector<int32_t> positions;
  while (static_cast<int32_t>(positions.size()) < target.step_rows()) {
    const int32_t count = std::min(length(), target.step_rows() - static_cast<int32_t>(positions.size()));
    ASSERT_TRUE(tables.emplace_back(pool_).reserve(count));
    rows.prompt(rows.sequence_of(tables.back()), tables.back(), text(0, count), 0);
    for (int32_t at = 0; at < count; ++at) positions.push_back(at);
  }
  const auto out = run(target, rows);
  for (size_t i = 0; i < positions.size(); ++i) expect_equal(out[i], positions[i], fmt::format("row {} of a full step", i));
}

TEST_P(RowInvariance, OfTheBatchAroundARow) {
  for (LanguageModel& target : targets_) {
    for (const int32_t batch : few<int32_t>({2, 7, 16, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15})) {
      // Each sequence holds another length of the text, so that the rows see blocks and positions
      // of every kind.
      std::vector<BlockTable> tables;
      Rows rows(kBlocksMax);
      std::vector<int32_t> positions;
      for (int32_t i = 0; i < batch; ++i) {
        const int32_t at = 1 + (i * 11 + batch) % (length() - 1);
        ASSERT_TRUE(tables.emplace_back(pool_).reserve(at + 1));
        feed(target, tables.back(), at);
        rows.tree(rows.sequence_of(tables.back()), tables.back(), at, text_[static_cast<size_t>(at)], {});
        positions.push_back(at);
      }
      const auto out = run(target, rows);
      for (int32_t i = 0; i < batch; ++i)
        expect_equal(out[static_cast<size_t>(i)], positions[static_cast<size_t>(i)], fmt::format("row {} of {}", i, batch));
    }
  }
}

TEST_P(RowInvariance, OfTreeSlotsAndAcrossTheCommit) {
  for (LanguageModel& target : targets_) {
    for (const auto& [depth, decoys] : few<std::pair<int32_t, int32_t>>({{7, 0}, {5, 2}, {2, 30}, {4, 1}, {3, 6}, {6, 9}})) {
      const int32_t committed = length() - depth - 3;
      BlockTable blocks(pool_);
      ASSERT_TRUE(blocks.reserve(committed + 64));
      feed(target, blocks, committed);
      Rows rows(kBlocksMax);
      rows.tree(rows.sequence_of(blocks), blocks, committed, text_[static_cast<size_t>(committed)],
                tree_around(committed, depth, decoys));
      const auto out = run(target, rows);
      std::vector<int32_t> path;
      for (int32_t level = 0; level <= depth; ++level) {
        const int32_t row = level * (decoys + 1);
        expect_equal(out[static_cast<size_t>(row)], committed + level, fmt::format("slot {} of a tree", row));
        if (level > 0) path.push_back(row);
      }
      Rows next(kBlocksMax);
      blocks.commit(committed, path, next.moves);
      const int32_t at = committed + depth + 1;
      next.tree(next.sequence_of(blocks), blocks, at, text_[static_cast<size_t>(at)], {});
      expect_equal(run(target, next)[0], at, fmt::format("after a commit of {} rows", depth));
    }
  }
}

// Preemption takes a sequence's blocks, gives them to others, and computes it anew in chunks,
// elsewhere.
TEST_P(RowInvariance, OfWhatIsComputedAnewAfterOthersHadTheBlocks) {
  for (LanguageModel& target : targets_) {
    const int32_t before = length() / 2;
    {
      BlockTable blocks(pool_);
      ASSERT_TRUE(blocks.reserve(before));
      feed(target, blocks, before);
    }
    overwrite_next_blocks(target);
    BlockTable elsewhere(pool_), blocks(pool_);
    ASSERT_TRUE(elsewhere.reserve(kBlockTokens) && blocks.reserve(length()));
    feed(target, blocks, before);
    expect_chunk(target, blocks, before, "computed anew");
  }
}

// Blocks that another sequence wrote, among the rows of a third, and left behind.
TEST_P(RowInvariance, OfRowsBehindBlocksOfThePrefixCache) {
  for (LanguageModel& target : targets_) {
    overwrite_next_blocks(target);
    PrefixCache cache(pool_);
    const int32_t shared = (length() - 1) / kBlockTokens * kBlockTokens;
    {
      BlockTable first(pool_), third(pool_);
      ASSERT_TRUE(third.reserve(13) && first.reserve(shared));
      Rows rows(kBlocksMax);
      rows.prompt(rows.sequence_of(third), third, text(5, 13), 0);
      rows.prompt(rows.sequence_of(first), first, text(0, shared), 0);
      run(target, rows);
      PrefixCache::Place place;
      for (int32_t at = 0; at < shared; at += kBlockTokens) {
        cache.keep(place, text(at, kBlockTokens), first.blocks()[static_cast<size_t>(at / kBlockTokens)]);
      }
    }
    PrefixCache::Place place;
    BlockTable blocks(pool_);
    blocks.adopt(cache.find(text(0, length()), place));
    ASSERT_EQ(static_cast<int32_t>(blocks.blocks().size()) * kBlockTokens, shared);
    ASSERT_TRUE(blocks.reserve(length()));
    expect_chunk(target, blocks, shared, "behind the prefix cache");
  }
}

}  // namespace slipstream
