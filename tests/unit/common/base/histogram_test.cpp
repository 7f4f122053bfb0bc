#include "common/base/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::ElementsAre;

TEST(Histogram, PutsAValueAtALimitBelowIt) {
  Histogram<3> histogram{{1, 2, 4}};
  for (double value : {0.5, 1.0, 1.5, 2.0, 4.0, 4.5}) histogram.observe(value);
  EXPECT_THAT(histogram.counts(), ElementsAre(2, 2, 1, 1));
  EXPECT_EQ(histogram.count(), 6u);
  EXPECT_DOUBLE_EQ(histogram.sum(), 13.5);
}

}  // namespace
}  // namespace slipstream
