#include "common/sampling/row_edits.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;

constexpr float kInf = std::numeric_limits<float>::infinity();

TokenMask mask_of(int32_t vocabulary, const std::vector<TokenId>& tokens) {
  TokenMask mask(vocabulary);
  for (const TokenId token : tokens) mask.allow(token);
  return mask;
}

RowEdits edits_of(int32_t vocabulary) {
  RowEdits edits;
  edits.begin(vocabulary);
  return edits;
}

std::vector<float> applied(const RowEdits& edits, std::vector<float> logits) {
  edits.apply(logits);
  return logits;
}

TEST(RowEdits, AppliesPenaltiesThenBiasesThenTheMask) {
  RowEdits edits = edits_of(4);
  edits.penalties = {{.token = 0, .scale = 2, .add = -1}, {.token = 1, .scale = 2, .add = -1}};
  edits.biases = {{.token = 1, .add = 3}, {.token = 2, .add = 100}};
  edits.forbid(2);
  EXPECT_THAT(applied(edits, {4, -4, 0, 1}), ElementsAre(1, -6, -kInf, 1));
}

TEST(RowEdits, ChangesNoBitOfALogitThatItDoesNotEdit) {
  const LogitEdit none{.token = 0};
  for (const float logit : {0.0F, -0.0F, 1e-40F, -3.5F, kInf, -kInf}) {
    EXPECT_EQ(std::bit_cast<uint32_t>(edited(logit, none)), std::bit_cast<uint32_t>(logit)) << logit;
  }
}

TEST(RowEdits, AllowsOnlyWhatAMaskAllowsAndNothingBeyondIt) {
  RowEdits edits = edits_of(100);
  edits.allow_only(mask_of(70, {3, 64}));
  const auto logits = applied(edits, std::vector<float>(100, 1.0F));
  for (size_t id = 0; id < logits.size(); ++id) EXPECT_EQ(logits[id], id == 3 || id == 64 ? 1.0F : -kInf) << id;
}

TEST(RowEdits, AllowsOnlyWhatEachOfSeveralMasksAllows) {
  RowEdits edits = edits_of(70);
  edits.allow_only(std::vector<TokenId>{1, 2, 33, 64, 90});
  edits.allow_only(mask_of(70, {2, 33, 64}));
  edits.forbid(33);
  edits.forbid(500);
  const auto logits = applied(edits, std::vector<float>(70, 1.0F));
  for (size_t id = 0; id < logits.size(); ++id) EXPECT_EQ(logits[id], id == 2 || id == 64 ? 1.0F : -kInf) << id;
}

TEST(RowEdits, LeavesLogitsThatAreNotFiniteForTheChainToRefuse) {
  RowEdits edits = edits_of(4);
  edits.forbid_all();
  const auto logits = applied(edits, {NAN, kInf, 1.0F, -kInf});
  EXPECT_TRUE(std::isnan(logits[0]));
  EXPECT_THAT((std::vector(logits.begin() + 1, logits.end())), ElementsAre(kInf, -kInf, -kInf));
}

}  // namespace
}  // namespace slipstream
