#include "services/drafter/inline_drafter.h"

#include <gtest/gtest.h>

#include "common/drafting/ngram.h"
#include "tests/unit/services/drafter/drafter_stage.h"

namespace slipstream {
namespace {

TEST(InlineDrafter, AnswersInTheSameTurn) {
  NgramMethod method;
  InlineDrafter drafter(drafter_config(), method);
  Stage<InlineDrafter> stage(drafter);
  stage.hears(kVerifier, Attach{.versions = {}, .verifier = 1, .fingerprint = kTokens});
  stage.hears(kVerifier, first_advance({1, 2, 3, 4, 9, 1, 2}));
  const Tree tree = stage.says<Tree>().message;
  ASSERT_FALSE(tree.nodes.empty());
  EXPECT_EQ(tree.nodes[0].token, 3);
  stage.hears(kVerifier, advance({1, 2, 3, 4, 9, 1, 2, 3}, 7, 2));
  EXPECT_EQ(stage.says<Tree>().message.nodes.at(0).token, 4);
  EXPECT_EQ(drafter.counters().jobs, 2u);
}

}  // namespace
}  // namespace slipstream
