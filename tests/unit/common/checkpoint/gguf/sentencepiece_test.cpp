#include "common/checkpoint/gguf/sentencepiece.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::pair<std::string, std::string>> merges(const std::vector<ScoredPiece>& pieces) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [left, right] : sentencepiece_merges(pieces)) all.emplace_back(left, right);
  return all;
}

TEST(SentencePieceMerges, ComeInTheOrderOfWhatTheyMake) {
  EXPECT_THAT(merges({{"a", -9}, {"b", -8}, {"c", -7}, {"bc", -2}, {"ab", -1}, {"abc", -3}}),
              ElementsAre(Pair("a", "b"), Pair("b", "c"), Pair("ab", "c"), Pair("a", "bc")));
}

TEST(SentencePieceMerges, PutTheLongestLeftPartFirst) {
  EXPECT_THAT(merges({{"x", 0}, {"xx", -1}, {"xxx", -2}}), ElementsAre(Pair("x", "x"), Pair("xx", "x"), Pair("x", "xx")));
  // Of two pieces with one score the first comes first, where the lengths are the same.
  EXPECT_THAT(merges({{"a", 0}, {"b", 0}, {"bb", -1}, {"aa", -1}, {"aaa", -1}}),
              ElementsAre(Pair("aa", "a"), Pair("a", "aa"), Pair("b", "b"), Pair("a", "a")));
}

TEST(SentencePieceMerges, CutBetweenCharactersOnly) {
  EXPECT_THAT(merges({{"▁", 0}, {"é", 0}, {"▁é", -1}}), ElementsAre(Pair("▁", "é")));
  EXPECT_THAT(merges({{"\xC3", 0}, {"\xA9", 0}, {"\xC3\xA9", -1}}), IsEmpty());
}

TEST(SentencePieceMerges, NeedBothHalves) { EXPECT_THAT(merges({{"a", 0}, {"ab", -1}, {"", 0}}), IsEmpty()); }

}  // namespace
}  // namespace slipstream
