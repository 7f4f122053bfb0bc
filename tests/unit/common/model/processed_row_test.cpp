#include "common/model/processed_row.h"

#include <limits>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();
const std::vector<float> kLogits{1, 2, 3};

// The logits of the second wanted row, under a mask.
std::vector<float> masked_by(RowMask::Mask mask) {
  const std::vector<ProcessedRow> rows{{.wanted = 1, .mask = 0}};
  const std::vector masks{std::make_shared<const RowMask>([mask = std::move(mask)] { return mask; })};
  Step step;
  step.processed = rows;
  step.masks = masks;
  ProcessedScratch copy;
  const auto made = processed(step, 1, kLogits, copy);
  EXPECT_EQ(processed(step, 0, kLogits, copy).data(), kLogits.data()) << "a row without a mask is not copied";
  return {made.begin(), made.end()};
}

TEST(ProcessedRow, KeepsWhatItsMaskAllows) {
  TokenMask mask(3);
  mask.words()[0] = 0b101;
  EXPECT_THAT(masked_by(std::make_shared<const TokenMask>(mask)), testing::ElementsAre(1, kMasked, 3));
}

TEST(ProcessedRow, IsRefusedWhereItIsNotKnownWhatIsAllowed) {
  for (const float logit : masked_by(nullptr)) EXPECT_EQ(logit, kMasked) << "no token can be chosen";
}

}  // namespace
}  // namespace slipstream
