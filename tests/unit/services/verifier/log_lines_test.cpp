// What a verifier tells the log of one sequence.
#include <gtest/gtest.h>

#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

using LogLines = VerifierStage;

TEST_F(LogLines, TellWhichSequenceBeganAndHowItEnded) {
  stage.forget();
  const Start start = this->start();
  stage.hears(kRouter, start);
  const Note begins = stage.does<Note>();
  EXPECT_EQ(begins.sequence, start.sequence);
  EXPECT_EQ(begins.text, "begins: 3 tokens of prompt, 0 of output, 20 of output at most");
  EXPECT_TRUE(begins.detail && !begins.warning);
  runs();
  stage.finishes(StepOutput{.sampled_tokens = {kStop}});
  const Note ends = stage.does<Note>();
  EXPECT_EQ(ends.sequence, start.sequence);
  EXPECT_EQ(ends.text, "ends after 1 tokens of output: a stop token");
  EXPECT_TRUE(ends.detail);
}

TEST_F(LogLines, WarnOfASequenceThatEndsWithAnError) {
  const Start start = this->start();
  stage.hears(kRouter, start);
  runs();
  stage.forget();
  stage.finishes(slipstream::fail("no memory"));
  const Note ends = stage.does<Note>();
  EXPECT_EQ(ends.sequence, start.sequence);
  EXPECT_EQ(ends.text, "ends with an error: no memory");
  EXPECT_TRUE(ends.warning);
}

}  // namespace
}  // namespace slipstream
