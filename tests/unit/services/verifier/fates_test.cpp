#include "services/verifier/fates.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

TEST(NodeFates, AddUpToWhatWasReceivedWhateverHappens) {
  NodeFates fates;
  fates.arrive(5);
  fates.settle(2, Fate::accepted);
  fates.settle(1, Fate::rejected);
  EXPECT_EQ(fates.received(), 5U);
  EXPECT_EQ(fates.of(Fate::held), 2U);
}

TEST(NodeFates, DieOnANodeThatGetsASecondFate) {
  NodeFates fates;
  fates.arrive(1);
  fates.settle(1, Fate::late);
  EXPECT_DEATH(fates.settle(1, Fate::stale), "1 nodes get a fate and 0 are held");
}

TEST(SequenceFates, AreEnteredInTheVerifiersLedgerToo) {
  NodeFates verifier;
  SequenceFates first(verifier), second(verifier);
  first.arrive(3);
  second.arrive(4);
  second.settle(4, Fate::trimmed);
  EXPECT_EQ(first.of(Fate::held), 3U);
  EXPECT_EQ(verifier.received(), 7U);
  EXPECT_EQ(verifier.of(Fate::trimmed), 4U);
}

}  // namespace
}  // namespace slipstream
