#include "common/base/chain_rule.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(ChainRule, IsReadAsOperatorsWriteIt) {
  EXPECT_EQ(read_chain_rule("fixed:4").value(), ChainRule{.length_max = 4});
  EXPECT_EQ(read_chain_rule("confidence:0.4").value(), ChainRule{.confidence_least = 0.4F});
  EXPECT_EQ(read_chain_rule("entropy:0.3").value(), ChainRule{.bound_least = 0.3F});
  EXPECT_EQ(read_chain_rule("threshold:0.7").value(), ChainRule{.threshold = 0.7F});
  for (const char* wrong : {"fixed", "fixed:", "fixed:0", "fixed:21", "fixed:3x", "confidence:0", "confidence:1", "entropy:1",
                            "threshold:nan", "threshold:-1", "price", ":", "fixed:3:4"}) {
    const auto rule = read_chain_rule(wrong);
    ASSERT_FALSE(rule.has_value()) << wrong;
    EXPECT_NE(rule.error().message.find("write fixed:K"), std::string::npos);
  }
}

}  // namespace
}  // namespace slipstream
