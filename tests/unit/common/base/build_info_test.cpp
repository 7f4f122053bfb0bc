#include "common/base/build_info.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(BuildInfo, LeavesNothingEmpty) {
  const BuildInfo info = build_info();
  EXPECT_FALSE(info.version.empty());
  EXPECT_FALSE(info.revision.empty());
  EXPECT_FALSE(info.compiler.empty());
}

TEST(BuildInfo, FitsInALine) { EXPECT_EQ(build_summary().find('\n'), std::string::npos); }

}  // namespace
}  // namespace slipstream
