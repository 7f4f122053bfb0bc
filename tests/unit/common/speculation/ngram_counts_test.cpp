#include "common/speculation/ngram_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

NgramCounts counts_of(const std::vector<TokenId>& tokens) {
  NgramCounts counts;
  counts.append(tokens);
  return counts;
}

TEST(NgramCounts, GivesItsTailBack) {
  const NgramCounts counts = counts_of({1, 2, 3, 4});
  EXPECT_THAT(counts.tail(2), testing::ElementsAre(3, 4));
  EXPECT_THAT(counts.tail(9), testing::ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace slipstream
