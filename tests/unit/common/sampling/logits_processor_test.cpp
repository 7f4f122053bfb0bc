#include "common/sampling/logits_processor.h"

#include <bit>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.h"
#include "tests/unit/common/sampling/adjust.h"
#include "tests/unit/common/sampling/allocations.h"
#include "tests/unit/common/sampling/plain_process.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
constexpr float kMasked = -INFINITY;

std::vector<float> processed(std::vector<float> logits, const LogitsProcessor& logits_processor,
                             std::vector<TokenId> path = {}) {
  adjust(logits_processor, logits, path);
  return logits;
}

LogitsProcessor after(LogitsParams how, std::vector<TokenId> prompt, std::vector<TokenId> output = {}) {
  LogitsProcessor logits_processor(std::move(how));
  logits_processor.add_prompt(prompt);
  logits_processor.add_output(output);
  return logits_processor;
}

std::vector<uint32_t> bits(const std::vector<float>& logits) {
  std::vector<uint32_t> bits;
  for (float logit : logits) bits.push_back(std::bit_cast<uint32_t>(std::isnan(logit) ? NAN : logit));
  return bits;
}

class Chance {
 public:
  explicit Chance(uint64_t seed) : random_(seed) {}
  int below(int end) { return static_cast<int>(random_() % static_cast<uint64_t>(end)); }
  bool one_in(int n) { return below(n) == 0; }
  std::vector<TokenId> tokens(int count, int vocabulary) {
    std::vector<TokenId> tokens(static_cast<size_t>(count));
    for (TokenId& token : tokens) token = below(vocabulary);
    return tokens;
  }
  std::vector<float> row(int vocabulary) {
    std::vector<float> row(static_cast<size_t>(vocabulary));
    for (float& logit : row) logit = std::normal_distribution<float>(0, 4)(random_);
    for (const float odd : {0.0F, -0.0F, kMasked, NAN, INFINITY}) {
      if (one_in(8)) row[static_cast<size_t>(below(vocabulary))] = odd;
    }
    return row;
  }
  LogitsParams logits_params(int vocabulary) {
    LogitsParams how;
    if (!one_in(3)) how.repetition_penalty = 0.5F + static_cast<float>(below(1000)) / 500.0F;
    if (!one_in(3)) how.presence_penalty = static_cast<float>(below(400)) / 100.0F - 2.0F;
    if (!one_in(3)) how.frequency_penalty = static_cast<float>(below(400)) / 100.0F - 2.0F;
    how.min_tokens = below(12);
    how.stop_ids = tokens(below(3), vocabulary);
    for (TokenId id = 0; id < vocabulary; ++id) {
      if (one_in(5)) how.bias.push_back({id, static_cast<float>(below(20000)) / 100.0F - 100.0F});
    }
    for (int words = below(6); words > 0; --words) how.bad_words.push_back(tokens(1 + below(3), vocabulary));
    if (!one_in(3)) return how;
    for (TokenId id = 0; id < vocabulary + 3; ++id) {
      if (one_in(2)) how.allowed.push_back(id);
    }
    return how;
  }

 private:
  std::mt19937_64 random_;
};

// However the same tokens are divided between the prompt's chunks, the output's and the path: to
// the bit.
TEST(LogitsProcessor, GivesWhatThePlainLoopGivesWhereverThePathBegins) {
  Chance chance(1);
  for (int i = 0; i < 4000; ++i) {
    const int vocabulary = 2 + chance.below(12);
    const LogitsParams how = chance.logits_params(vocabulary);
    const std::vector<TokenId> prompt = chance.tokens(chance.below(20), vocabulary);
    const std::vector<TokenId> output = chance.tokens(chance.below(30), vocabulary);
    const std::vector<float> logits = chance.row(vocabulary);
    const auto expected = bits(plain::processed(logits, how, prompt, output));
    for (const size_t drafted : {size_t{0}, output.size() / 2, output.size()}) {
      const auto split = output.end() - static_cast<std::ptrdiff_t>(drafted);
      LogitsProcessor logits_processor(how);
      logits_processor.add_prompt(std::span(prompt).first(prompt.size() / 2));
      logits_processor.add_prompt(std::span(prompt).subspan(prompt.size() / 2));
      for (auto at = output.begin(); at != split; ++at) logits_processor.add_output(std::span(&*at, 1));
      ASSERT_EQ(bits(processed(logits, logits_processor, {split, output.end()})), expected)
          << i << ", " << drafted << " drafted";
    }
  }
}

TEST(LogitsProcessor, DividesWhatIsAboveZeroAndMultipliesWhatIsBelow) {
  const LogitsProcessor logits_processor = after({.repetition_penalty = 2}, {0, 1}, {2});
  EXPECT_THAT(processed({3, -3, 5, 7}, logits_processor), ElementsAre(1.5F, -6, 2.5F, 7));
}

TEST(LogitsProcessor, CountsForFrequencyAndPresenceInTheOutputOnly) {
  const LogitsProcessor logits_processor = after({.presence_penalty = 0.5F, .frequency_penalty = 0.25F}, {0, 0, 1}, {1, 1, 2});
  EXPECT_THAT(processed({0, 0, 0, 0}, logits_processor), ElementsAre(0, -1, -0.75F, 0));
}

TEST(LogitsProcessor, SeesTheRowsOwnPathAndNoOther) {
  const LogitsProcessor logits_processor = after({.frequency_penalty = 1}, {9}, {0});
  EXPECT_THAT(processed({0, 0, 0}, logits_processor, {0, 1, 1}), ElementsAre(-2, -2, 0));
  EXPECT_THAT(processed({0, 0, 0}, logits_processor, {2}), ElementsAre(-1, 0, -1));
  EXPECT_THAT(processed({0, 0, 0}, logits_processor), ElementsAre(-1, 0, 0));
}

TEST(LogitsProcessor, AddsTheBiasBehindThePenalties) {
  const LogitsProcessor logits_processor = after({.repetition_penalty = 2, .bias = {{0, 10}, {2, -3}}}, {0});
  EXPECT_THAT(processed({4, 4, 4}, logits_processor), ElementsAre(12, 4, 1));
}

TEST(LogitsProcessor, MasksBehindTheBias) {
  const LogitsProcessor logits_processor = after({.bias = {{0, 100}}, .allowed = {1, 2}}, {0});
  EXPECT_THAT(processed({4, 4, 4, 4}, logits_processor), ElementsAre(kMasked, 4, 4, kMasked));
}

TEST(LogitsProcessor, KeepsTheEndBackUntilTheOutputWithItsPathIsLongEnough) {
  const LogitsProcessor logits_processor = after({.min_tokens = 3, .stop_ids = {1}}, {5, 5, 5, 5}, {2});
  EXPECT_THAT(processed({0, 0}, logits_processor), ElementsAre(0, kMasked));
  EXPECT_THAT(processed({0, 0}, logits_processor, {2}), ElementsAre(0, kMasked));
  EXPECT_THAT(processed({0, 0}, logits_processor, {2, 2}), ElementsAre(0, 0));
}

TEST(LogitsProcessor, MasksTheLastTokenOfABadWordWhereverItsBeginningLies) {
  const LogitsProcessor logits_processor = after({.bad_words = {{0}, {3, 4, 1}}}, {3, 4}, {3});
  EXPECT_THAT(processed({0, 0, 0}, logits_processor), ElementsAre(kMasked, 0, 0)) << "3 4 in the prompt is no output";
  EXPECT_THAT(processed({0, 0, 0}, logits_processor, {4}), ElementsAre(kMasked, kMasked, 0));
  EXPECT_THAT(processed({0, 0, 0}, logits_processor, {3, 4}), ElementsAre(kMasked, kMasked, 0));
  EXPECT_THAT(processed({0, 0, 0}, logits_processor, {4, 3}), ElementsAre(kMasked, 0, 0));
}

TEST(LogitsProcessor, MatchesTheLongestBadWordOverALongOutput) {
  std::vector<TokenId> word(kBadWordTokensMax - 1, 2);
  word.push_back(0);
  LogitsProcessor logits_processor({.bad_words = {word}});
  logits_processor.add_output(std::vector<TokenId>(1000, 2));
  EXPECT_THAT(processed({0, 0, 0}, logits_processor), ElementsAre(kMasked, 0, 0));
  logits_processor.add_output(std::vector<TokenId>{1});
  EXPECT_THAT(processed({0, 0, 0}, logits_processor), ElementsAre(0, 0, 0));
}

TEST(LogitsProcessor, HidesNoLogitThatIsNotFinite) {
  const auto row = processed({NAN, INFINITY, 1, 2}, after({.repetition_penalty = 2, .allowed = {3}}, {0, 1}));
  EXPECT_TRUE(std::isnan(row[0]));
  EXPECT_EQ(row[1], INFINITY);
  EXPECT_EQ(row[2], kMasked);
}

TEST(LogitsProcessor, PassesOverTokensThatTheRowHasNot) {
  const LogitsProcessor logits_processor = after(
      {.repetition_penalty = 2, .min_tokens = 9, .stop_ids = {7}, .bias = {{8, 1}}, .bad_words = {{9}}, .allowed = {1, 9}},
      {100}, {101});
  EXPECT_THAT(processed({2, 2}, logits_processor, {102}), ElementsAre(kMasked, 2));
}

TEST(LogitsProcessor, AllocatesNothingForARowOnceItsEditsHaveRoom) {
  Chance chance(2);
  const LogitsProcessor logits_processor = after(chance.logits_params(500), chance.tokens(300, 500), chance.tokens(300, 500));
  std::vector<float> logits(500, 1.0F);
  const std::vector<TokenId> path = chance.tokens(kTreeDepthMax, 500);
  RowEdits edits;
  const auto process = [&] {
    edits.begin(500);
    logits_processor.edit(path, edits);
    edits.apply(logits);
  };
  process();
  const uint64_t before = allocations();
  for (int i = 0; i < 100; ++i) process();
  EXPECT_EQ(allocations(), before);
}

TEST(LogitsProcessor, TellsWhetherItsMasksLeaveAToken) {
  const LogitsParams twice{.bad_words = {{1, 1}}, .allowed = {1}};
  EXPECT_TRUE(after(twice, {}).leaves_a_token(3)) << "the first of two";
  EXPECT_FALSE(after(twice, {}, {1}).leaves_a_token(3));
  EXPECT_FALSE(after({.min_tokens = 1, .stop_ids = {2}, .bad_words = {{0}, {1}}}, {}).leaves_a_token(3));
  EXPECT_TRUE(after({.min_tokens = 1, .stop_ids = {2}, .bad_words = {{0}, {1}}}, {}).leaves_a_token(4));
  EXPECT_TRUE(after({.bias = {{0, -100}}}, {}).leaves_a_token(1)) << "a bias forbids nothing";
}

TEST(TokenCounts, HoldsEachTokenOnceAndCountsTheOutput) {
  TokenCounts token_counts;
  token_counts.add_prompt(std::vector<TokenId>{5, 3, 5});
  token_counts.add_prompt(std::vector<TokenId>{4, 3});
  token_counts.add_output(std::vector<TokenId>{9, 3, 9, 1});
  EXPECT_THAT(token_counts.seen(), ElementsAre(TokenCounts::Seen{1, 1}, TokenCounts::Seen{3, 1}, TokenCounts::Seen{4, 0},
                                               TokenCounts::Seen{5, 0}, TokenCounts::Seen{9, 2}));
  EXPECT_EQ(token_counts.times(9), 2);
  EXPECT_EQ(token_counts.times(4), 0);
  EXPECT_EQ(token_counts.times(7), 0);
}

}  // namespace
}  // namespace slipstream
