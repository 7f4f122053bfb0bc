#include "common/sampling/chain.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<TokenId> ids_kept(const std::vector<float>& logits, const SamplingParams& params) {
  ChainScratch scratch;
  const auto kept = process(logits, params, scratch);
  return kept ? std::vector<TokenId>(kept->ids.begin(), kept->ids.end()) : std::vector<TokenId>();
}

// Logits of these probabilities.
std::vector<float> logs(std::vector<float> probabilities) {
  for (float& p : probabilities) p = std::log(p);
  return probabilities;
}

TEST(SamplingParamsCheck, TakesTheWholeRange) {
  EXPECT_TRUE(validate({}));
  EXPECT_TRUE(validate({.temperature = 0}));
  EXPECT_TRUE(validate({.temperature = kTemperatureMin, .top_k = 1, .top_p = 1e-6F, .min_p = 0.999F}));
  EXPECT_TRUE(validate({.temperature = kTemperatureMax, .top_k = INT32_MAX, .top_p = 1, .min_p = 0}));
}

TEST(SamplingParamsCheck, NamesTheFieldItsValueAndItsRange) {
  EXPECT_EQ(validate({.temperature = 3}).error().message, "temperature is 3: give 0 (greedy) or a number from 0.01 to 2");
  EXPECT_EQ(validate({.top_k = -1}).error().message, "top_k is -1: give 0 (off) or a positive number of tokens");
  EXPECT_EQ(validate({.top_p = 0}).error().message, "top_p is 0: give a number above 0 and at most 1 (off)");
  EXPECT_EQ(validate({.min_p = 1}).error().message, "min_p is 1: give a number from 0 (off) to below 1");
}

TEST(SamplingParamsCheck, RefusesWhatIsNoNumber) {
  for (float bad : {NAN, INFINITY, -INFINITY, -1.0F}) {
    EXPECT_FALSE(validate({.temperature = bad})) << bad;
    EXPECT_FALSE(validate({.top_p = bad})) << bad;
    EXPECT_FALSE(validate({.min_p = bad})) << bad;
  }
  EXPECT_FALSE(validate({.temperature = 0.009F}));
}

TEST(SamplingChain, KeepsEverythingWithoutFilters) { EXPECT_THAT(ids_kept({3, 1, 2}, {}), ElementsAre(0, 1, 2)); }

TEST(SamplingChain, ScalesByTheTemperature) {
  ChainScratch scratch;
  EXPECT_THAT(process(std::vector<float>{3, 1}, {.temperature = 0.5F}, scratch)->scaled, ElementsAre(6, 2));
}

TEST(SamplingChain, KeepsTheLowestIdOfTheHighestAtTemperatureZero) {
  EXPECT_THAT(ids_kept({1, 3, 3, 2}, {.temperature = 0}), ElementsAre(1));
}

TEST(SamplingChain, TopKTakesTheLowestIdsOfATie) {
  EXPECT_THAT(ids_kept({1, 2, 1, 2, 1}, {.top_k = 3}), ElementsAre(0, 1, 3));
  EXPECT_THAT(ids_kept({1, 1, 1}, {.top_k = 2}), ElementsAre(0, 1));
  EXPECT_THAT(ids_kept({1, 2}, {.top_k = 9}), ElementsAre(0, 1));
}

TEST(SamplingChain, TopPKeepsTheSmallestSetThatReachesP) {
  const auto logits = logs({0.1F, 0.5F, 0.15F, 0.25F});
  EXPECT_THAT(ids_kept(logits, {.top_p = 0.49F}), ElementsAre(1));
  EXPECT_THAT(ids_kept(logits, {.top_p = 0.51F}), ElementsAre(1, 3));
  EXPECT_THAT(ids_kept(logits, {.top_p = 0.76F}), ElementsAre(1, 2, 3));
  EXPECT_THAT(ids_kept(logits, {.top_p = 0.91F}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ids_kept(logits, {.top_p = 1e-6F}), ElementsAre(1));
}

TEST(SamplingChain, TopPStopsWhereATieReachesP) {
  EXPECT_THAT(ids_kept({0, 0, 0, 0}, {.top_p = 0.5F}), ElementsAre(0, 1));
  EXPECT_THAT(ids_kept({0, 0, 0, 0}, {.top_p = 0.51F}), ElementsAre(0, 1, 2));
}

TEST(SamplingChain, TopPMeasuresWhatTopKLeft) {
  // Of {.5, .3} the first alone has .625.
  EXPECT_THAT(ids_kept(logs({0.5F, 0.3F, 0.2F}), {.top_k = 2, .top_p = 0.6F}), ElementsAre(0));
  EXPECT_THAT(ids_kept(logs({0.5F, 0.3F, 0.2F}), {.top_p = 0.6F}), ElementsAre(0, 1));
}

TEST(SamplingChain, MinPIsAShareOfTheHighest) {
  EXPECT_THAT(ids_kept(logs({0.5F, 0.2F, 0.06F, 0.24F}), {.min_p = 0.39F}), ElementsAre(0, 1, 3));
  EXPECT_THAT(ids_kept(logs({0.5F, 0.2F, 0.06F, 0.24F}), {.min_p = 0.41F}), ElementsAre(0, 3));
}

TEST(SamplingChain, NeverKeepsAMaskedToken) {
  EXPECT_THAT(ids_kept({-INFINITY, 1, -INFINITY, -1e30F}, {}), ElementsAre(1, 3));
  EXPECT_THAT(ids_kept({-INFINITY, 1}, {.top_k = 2}), ElementsAre(1));
  EXPECT_THAT(ids_kept({-INFINITY, 1}, {.temperature = 0}), ElementsAre(1));
}

TEST(SamplingChain, RefusesRowsThatAreNotFinite) {
  ChainScratch scratch;
  for (float temperature : {0.0F, 0.5F}) {
    for (float bad : {NAN, -NAN, INFINITY}) {
      for (size_t at : {0u, 63u, 64u, 70u}) {
        std::vector<float> logits(71, 1.0F);
        logits[at] = bad;
        EXPECT_FALSE(process(logits, {.temperature = temperature}, scratch)) << bad << " at " << at;
      }
    }
    EXPECT_FALSE(process(std::vector<float>(71, -INFINITY), {.temperature = temperature}, scratch));
  }
}

TEST(SamplingChain, RefusesRowsThatTheTemperatureMakesInfinite) {
  ChainScratch scratch;
  EXPECT_FALSE(process(std::vector<float>{1e37F, 0}, {.temperature = kTemperatureMin}, scratch));
}

}  // namespace
}  // namespace slipstream
