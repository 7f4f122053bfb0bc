#include "common/messages/rules.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(AcceptanceRules, HaveNamesThatReadBack) {
  for (const std::string_view name : kRuleNames) {
    const auto acceptance = acceptance_named(name, std::nullopt);
    ASSERT_TRUE(acceptance) << name;
    EXPECT_EQ(name_of(*acceptance), name);
  }
  EXPECT_EQ(name_of({.rule = Rule::greedy}), "greedy");
  EXPECT_FALSE(acceptance_named("greedy", std::nullopt)) << "temperature 0 says so";
}

TEST(AcceptanceRules, OnChainsHaveOneChildANodeWhateverIsAsked) {
  for (const std::string_view name : {"block", "lenience", "pareto", "uniform", "typical"}) {
    const auto acceptance = acceptance_named(name, uint8_t{4});
    EXPECT_EQ(acceptance->root_children * acceptance->children, 1) << name;
  }
}

}  // namespace
}  // namespace slipstream
