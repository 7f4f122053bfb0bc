#include "services/drafter/sequences.h"

#include <gtest/gtest.h>

#include "tests/unit/services/drafter/drafter_stage.h"

namespace slipstream {
namespace {

const DraftKey kKey{kVerifier, kSequence};

HeldSequence held_after(const std::vector<TokenId>& tokens, Round round) {
  Sequences sequences;
  return sequences.apply(kKey, first_advance(tokens, round), Fit::begin, Time(0));
}

TEST(Fit, BeginsWithInfoAndNothingBefore) {
  EXPECT_EQ(fit(nullptr, first_advance({1, 2})), Fit::begin);
  EXPECT_EQ(fit(nullptr, advance({1, 2}, 0, 1)), Fit::mismatch);  // no info
}

TEST(Fit, DoesNotBeginInTheMiddle) {
  Advance message = advance({1, 2}, 1, 1);
  message.info = GenerationSpec{};
  EXPECT_EQ(fit(nullptr, message), Fit::mismatch);
}

TEST(Fit, DoesNotBeginWithAHashOfSomething) {
  Advance message = first_advance({1, 2});
  message.fence.prefix_hash ^= 1;
  EXPECT_EQ(fit(nullptr, message), Fit::mismatch);
}

TEST(Fit, ExtendsFromExactlyWhatIsHeld) {
  const HeldSequence held = held_after({1, 2}, 1);
  EXPECT_EQ(fit(&held, advance({1, 2, 3}, 2, 2)), Fit::extend);
  EXPECT_EQ(fit(&held, advance({1, 2, 3, 4}, 3, 2)), Fit::gap);
  EXPECT_EQ(fit(&held, advance({9, 2, 3}, 2, 2)), Fit::mismatch);
  EXPECT_EQ(fit(&held, advance({1, 2, 3}, 1, 2)), Fit::mismatch);  // committed tokens are never taken back
}

TEST(Fit, IsStaleInAnOlderRound) {
  const HeldSequence held = held_after({1, 2}, 4);
  EXPECT_EQ(fit(&held, advance({1, 2, 3}, 2, 3)), Fit::stale);
  EXPECT_EQ(fit(&held, first_advance({1, 2}, 4)), Fit::stale);
}

TEST(Fit, GoesOnWithinARoundWhileTokensCome) {
  const HeldSequence held = held_after({1, 2}, 4);
  EXPECT_EQ(fit(&held, advance({1, 2, 3}, 2, 4)), Fit::extend);
  EXPECT_EQ(fit(&held, advance({1, 2}, 2, 4)), Fit::stale);
}

TEST(FenceAfter, CoversTheNewTokens) {
  const Fence fence = fence_after(advance({1, 2, 3}, 1, 2));
  EXPECT_EQ(fence.base_length, 3);
  EXPECT_EQ(fence.prefix_hash, advance({1, 2, 3}, 3, 2).fence.prefix_hash);
}

TEST(Sequences, CountsTheTokensOfAllSequences) {
  Sequences sequences;
  sequences.apply(kKey, first_advance({1, 2, 3}), Fit::begin, Time(0));
  sequences.apply({kOtherVerifier, kSequence}, first_advance({4}), Fit::begin, Time(0));
  EXPECT_EQ(sequences.tokens(), 4);
  sequences.apply(kKey, first_advance({1}, 2), Fit::begin, Time(0));
  EXPECT_EQ(sequences.tokens(), 2);
  EXPECT_TRUE(sequences.erase(kKey).has_value());
  EXPECT_FALSE(sequences.erase(kKey).has_value());
  EXPECT_EQ(sequences.tokens(), 1);
}

TEST(Sequences, FindsThoseOfOneVerifier) {
  Sequences sequences;
  sequences.apply(kKey, first_advance({1}), Fit::begin, Time(0));
  sequences.apply({kOtherVerifier, kSequence}, first_advance({1}), Fit::begin, Time(0));
  EXPECT_EQ(sequences.of_verifier(kVerifier), std::vector{kKey});
}

}  // namespace
}  // namespace slipstream
