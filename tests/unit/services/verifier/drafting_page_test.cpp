#include "services/verifier/drafting_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

DraftKindCounters asked(const char* method, int rounds, int accepted, uint64_t drafters) {
  DraftKindCounters kind{.kind = {.method = method, .model = ""}, .drafters = drafters};
  kind.rounds[static_cast<size_t>(RoundAsk::asked)] = static_cast<uint64_t>(rounds);
  for (int i = 0; i < accepted; ++i) kind.reliability.verified(0.5, true);
  return kind;
}

TEST(DraftingPage, SaysNothingOfPricesBeforeThereWasAStep) {
  EXPECT_EQ(drafting_page({}), "drafting\n  no step yet, so nobody was asked\n");
}

TEST(DraftingPage, TellsWhatAnAskBringsOfAResidentMethodToo) {
  VerifierCounters counters;
  counters.plain_rounds = 1;
  counters.node_price = 0.12;
  counters.draft_kinds = {asked("resident-ngram", 4, 6, 0), asked("ngram", 0, 0, 2)};
  const std::string page = drafting_page(counters);
  EXPECT_THAT(page, AllOf(HasSubstr("must gain 0.120 tokens to pay for its row now\n"),
                          HasSubstr("asked in 4 of 4 rounds; an ask brought 1.50 accepted nodes\n"),
                          HasSubstr("2 attached; no ask of it has ended, so what one wins is not known\n"),
                          HasSubstr("asked in 0 of 0 rounds\n")));
}

// What nobody knew was once shown as 1.
TEST(DraftingPage, TellsWhatAnAskWinsOfThoseRequestsOnlyThatThereWere) {
  VerifierCounters counters;
  counters.plain_rounds = 1;
  counters.draft_kinds = {asked("ngram", 4, 6, 2)};
  counters.draft_kinds[0].greedy_gain = 0.5;
  EXPECT_THAT(drafting_page(counters), HasSubstr("an ask wins 0.50 tokens (greedy), nobody knows what (sampled), less what"));
  counters.draft_kinds[0].coupled_gain = 0.25;
  EXPECT_THAT(drafting_page(counters), HasSubstr("an ask wins 0.50 tokens (greedy), 0.25 tokens (sampled), less what"));
}

TEST(DraftingPage, SaysWhenNoNodeCanPay) {
  VerifierCounters counters;
  counters.plain_rounds = 1;
  counters.node_price = 1.5;
  EXPECT_THAT(drafting_page(counters),
              AllOf(HasSubstr("must gain 1.500 tokens to pay for its row now, which none can\n"), HasSubstr("nobody drafts")));
  counters.node_price = 0.9;
  EXPECT_THAT(drafting_page(counters), Not(HasSubstr("which none can")));
}

}  // namespace
}  // namespace slipstream
