#include "common/base/trace_context.h"

#include <string>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

const std::string kHeader = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";  // the specification's example

TEST(TraceParent, IsReadAsTheSpecificationHasIt) {
  const auto read = read_traceparent(kHeader);
  ASSERT_TRUE(read);
  EXPECT_EQ(hex16(read->trace.high) + hex16(read->trace.low), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(hex16(read->trace.parent), "00f067aa0ba902b7");
  EXPECT_TRUE(read->sampled);
}

TEST(TraceParent, MayBeOneThatItsClientDoesNotRecord) {
  const auto read = read_traceparent(kHeader.substr(0, 53) + "00");
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->sampled);
}

TEST(TraceParent, OfALaterVersionMayBeLonger) { EXPECT_TRUE(read_traceparent("01" + kHeader.substr(2) + "-what-comes")); }

TEST(TraceParent, IsNoneIfItIsMalformedOrAnIdIsZero) {
  const std::string zero(32, '0');
  for (const std::string& bad :
       {std::string(), kHeader.substr(1), kHeader + "-more", "ff" + kHeader.substr(2), "00-" + zero + kHeader.substr(35),
        kHeader.substr(0, 36) + zero.substr(16) + kHeader.substr(52), "00-4BF9" + kHeader.substr(7),
        kHeader.substr(0, 35) + "_" + kHeader.substr(36), "01" + kHeader.substr(2) + "x"}) {
    EXPECT_FALSE(read_traceparent(bad)) << bad;
  }
}

}  // namespace
}  // namespace slipstream
