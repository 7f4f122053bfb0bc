#include "tools/statistics/holm.h"

#include <array>

#include <gmock/gmock.h>

namespace slipstream::statistics {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

auto near(double value) { return DoubleNear(value, 1e-15); }

TEST(Holm, WeighsTheSmallestByAllTestsAndTheNextByOneFewer) {
  EXPECT_THAT(holm(std::array{0.04, 0.01, 0.03}), ElementsAre(near(0.06), near(0.03), near(0.06)));
}

TEST(Holm, NeverRanksALargerPValueBelowASmallerOne) {
  EXPECT_THAT(holm(std::array{0.010, 0.011, 0.9, 0.012}), ElementsAre(near(0.04), near(0.04), near(0.9), near(0.04)));
}

TEST(Holm, StopsAtOne) { EXPECT_THAT(holm(std::array{0.7, 0.8}), ElementsAre(1, 1)); }

TEST(Holm, OfNothingIsNothing) { EXPECT_THAT(holm({}), IsEmpty()); }

}  // namespace
}  // namespace slipstream::statistics
