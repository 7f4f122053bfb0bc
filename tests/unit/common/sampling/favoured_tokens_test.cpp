#include "common/sampling/favoured_tokens.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr int32_t kVocabulary = 5000;

RowSampling row(uint32_t position) { return {.seed = 11, .choice = 2, .position = position, .params = {.temperature = 1}}; }

// By a plain loop over all tokens.
std::vector<TokenId> sorted_by_noise(const TokenMask& without, const RowSampling& how) {
  const NoiseKey key{how.seed, how.choice, how.position, NoisePurpose::coupled};
  const auto level = [&](TokenId token) { return noise_level(noise_word(key, static_cast<uint32_t>(token), 0)); };
  std::vector<TokenId> tokens;
  for (TokenId token = 0; token < kVocabulary; ++token) {
    if (!without.allows(token)) tokens.push_back(token);
  }
  std::ranges::stable_sort(tokens, [&](TokenId a, TokenId b) { return level(a) > level(b); });
  tokens.resize(std::min(tokens.size(), kFavouredTokens));
  return tokens;
}

TEST(FavouredTokens, AreThoseOfMostNoiseOutsideTheSet) {
  TokenMask without(kVocabulary);
  for (TokenId token = 0; token < kVocabulary; token += 3) without.allow(token);
  FavouredTokens favoured(without, kVocabulary);
  for (uint32_t position = 0; position < 200; ++position) {
    EXPECT_THAT(favoured.of(row(position)), testing::ElementsAreArray(sorted_by_noise(without, row(position)))) << position;
  }
}

TEST(FavouredTokens, AreTheSameWhenTheyAreAskedForAgain) {
  FavouredTokens favoured(TokenMask(kVocabulary), kVocabulary);
  const auto first = favoured.of(row(1));
  const std::vector<TokenId> expected(first.begin(), first.end());
  EXPECT_THAT(favoured.of(row(2)), testing::Not(testing::ElementsAreArray(expected)));
  EXPECT_THAT(favoured.of(row(1)), testing::ElementsAreArray(expected));
}

TEST(FavouredTokens, AreFewerThanUsualWhereTheSetLeavesFew) {
  TokenMask without(kVocabulary);
  for (TokenId token = 0; token < kVocabulary - 3; ++token) without.allow(token);
  EXPECT_THAT(FavouredTokens(without, kVocabulary).of(row(4)),
              testing::UnorderedElementsAre(kVocabulary - 1, kVocabulary - 2, kVocabulary - 3));
}

}  // namespace
}  // namespace slipstream
