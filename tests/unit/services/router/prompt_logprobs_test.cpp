// A request that wants the logprobs of its prompt gets each once and in order, before its tokens,
// whatever becomes of verifiers.
#include <gmock/gmock.h>

#include "tests/unit/services/router/router_stage.h"

namespace slipstream {
namespace {

using testing::IsEmpty;
using Logprobs = std::vector<TokenLogprob>;

// The prompt has three tokens, of which two have a logprob.
class RoutedPromptLogprobs : public RouterTest {
 protected:
  RoutedPromptLogprobs() {
    stage.hears(kVerifier, verifier(kVerifier));
    Submit submit = ask(1);
    submit.spec.prompt_logprobs = 1;
    stage.tell(submit);
  }
  void scores(Peer from, Epoch epoch, int32_t first, Logprobs logprobs, Finish finish = Finish::none) {
    stage.hears(
        from,
        Tokens{
            .sequence = sequence(1), .epoch = epoch, .first_index = first, .finish = finish, .logprobs = std::move(logprobs)});
  }
  const Logprobs both{{-1, {{7, -1}}}, {-2, {{8, -0.5F}}}};
};

TEST_F(RoutedPromptLogprobs, AreHandedOverOnce) {
  const Start start = stage.says<Start>().message;
  EXPECT_EQ(start.spec.prompt_logprobs, 1);
  EXPECT_EQ(start.scored, 1);
  scores(kVerifier, 1, -2, {both[0]});
  EXPECT_EQ(stage.does<Delivery>().prompt_logprobs, Logprobs{both[0]});
  EXPECT_EQ(stage.says<Ack>().message.next_index, -1);
  scores(kVerifier, 1, -2, both);
  const auto rest = stage.does<Delivery>();
  EXPECT_EQ(rest.prompt_logprobs, Logprobs{both[1]});
  EXPECT_THAT(rest.ids, IsEmpty());
  EXPECT_EQ(stage.says<Ack>().message.next_index, 0);
  tokens(kVerifier, 1, 1, 0, {20});
  EXPECT_THAT(stage.does<Delivery>().prompt_logprobs, IsEmpty());
  EXPECT_EQ(stage.says<Ack>().message.next_index, 1);
}

// Tokens wait for them, so that no answer begins without.
TEST_F(RoutedPromptLogprobs, AreAskedForAgainIfTokensOvertakeThem) {
  scores(kVerifier, 1, -2, {both[0]});
  stage.forget();
  tokens(kVerifier, 1, 1, 0, {20});
  EXPECT_TRUE(stage.idle<Delivery>());
  EXPECT_EQ(stage.says<Ack>().message.next_index, -1);
}

// Only a verifier of equal weights and numerics may go on, since the client has some already.
TEST_F(RoutedPromptLogprobs, AreNotAskedForTwiceOfAnotherVerifier) {
  scores(kVerifier, 1, -2, {both[0]});
  stage.forget();
  Hello other = verifier(kDrafter), alike = verifier(kSpare);
  other.fingerprint.weights = 0x12;
  stage.hears(kDrafter, other);
  stage.hears(kVerifier, Leaving{"a test"});
  EXPECT_TRUE(stage.silent<Start>());
  stage.hears(kSpare, alike);
  stage.hears(kVerifier, Leaving{"a test"});  // as with each of its heartbeats
  const auto replay = stage.says<Start>();
  EXPECT_EQ(replay.peer, kSpare);
  EXPECT_EQ(replay.message.scored, 2);
  scores(kSpare, 2, -1, {both[1]});
  EXPECT_EQ(stage.does<Delivery>().prompt_logprobs, Logprobs{both[1]});
}

TEST_F(RoutedPromptLogprobs, ThatCannotBeFailTheRequest) {
  scores(kVerifier, 1, -3, {both[0]});
  EXPECT_EQ(stage.does<Failure>().code, "invalid_tokens");
}

TEST_F(RoutedPromptLogprobs, DoNotEndAnAnswer) {
  scores(kVerifier, 1, -2, both, Finish::length);
  EXPECT_EQ(stage.does<Failure>().code, "invalid_tokens");
}

TEST(OldVerifier, GetsNoPromptToScore) {
  Router router(config());
  Stage<Router> stage(router);
  Hello old = verifier(kVerifier);
  old.scores_prompts = false;
  stage.hears(kVerifier, old);
  Submit submit = ask(1);
  submit.spec.prompt_logprobs = 0;
  stage.tell(submit);
  EXPECT_TRUE(stage.silent<Start>());
  stage.hears(kSpare, verifier(kSpare));
  EXPECT_EQ(stage.says<Start>().peer, kSpare);
}

}  // namespace
}  // namespace slipstream
