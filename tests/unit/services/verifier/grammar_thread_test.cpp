#include "services/verifier/grammar_thread.h"

#include <chrono>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/grammars.h"

namespace slipstream {
namespace {

struct Told {
  GrammarCompiled compiled;
  std::thread::id where;
};

TEST(GrammarThread, CompilesBesideTheLoopAndTellsHowItWent) {
  std::promise<Told> told[2];
  size_t next = 0;
  GrammarThread thread(small_grammars(), [&](VerifierEvent event) {
    told[next++].set_value({std::get<GrammarCompiled>(event), std::this_thread::get_id()});
    return true;
  });
  const GrammarText good{GrammarForm::regex, "ab"}, bad{GrammarForm::regex, "("};
  thread({good, 7});
  thread({bad, 7});
  const Told first = told[0].get_future().get(), second = told[1].get_future().get();
  EXPECT_NE(first.where, std::this_thread::get_id());
  EXPECT_EQ(first.compiled.text, good);
  ASSERT_TRUE(first.compiled.grammar);
  EXPECT_THAT((*first.compiled.grammar)->allowed_after({})->tokens(), testing::Not(testing::IsEmpty()));
  EXPECT_EQ(second.compiled.text, bad);
  ASSERT_FALSE(second.compiled.grammar);
  EXPECT_THAT(second.compiled.grammar.error().message, testing::HasSubstr("regex"));
}

TEST(GrammarThread, FollowsBesideTheLoopWhatSomebodyStillWaitsFor) {
  std::promise<GrammarFollowed> told;
  GrammarThread thread(small_grammars(), [&](VerifierEvent event) {
    told.set_value(std::get<GrammarFollowed>(std::move(event)));
    return true;
  });
  const auto grammar = std::make_shared<const Grammar>(grammar_of(GrammarForm::regex, "ab"));
  const GrammarGuide waits(grammar, {kSmallEnd});
  thread(FollowGrammar{.sequence = 1, .guide = GrammarGuide(grammar, {kSmallEnd}), .tokens = small_ids("a"), .tenant = 7});
  thread(FollowGrammar{.sequence = 2, .guide = waits, .tokens = small_ids("a"), .tenant = 7});
  const GrammarFollowed followed = told.get_future().get();
  EXPECT_EQ(followed.sequence, 2U) << "nobody has the first one's guide any more";
  EXPECT_TRUE(followed.followed);
}

}  // namespace
}  // namespace slipstream
