#include "services/verifier/fates.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr KindIndex kNgram = 0, kHead = 1;

TEST(NodeFates, AddUpToWhatWasReceivedWhateverHappens) {
  NodeFates fates;
  fates.arrive(kNgram, 5);
  fates.settle(kNgram, 2, Fate::accepted);
  fates.settle(kNgram, 1, Fate::rejected);
  EXPECT_EQ(fates.received(), 5U);
  EXPECT_EQ(fates.of(Fate::held), 2U);
}

TEST(NodeFates, AreKeptByKindOfDrafter) {
  NodeFates fates;
  fates.arrive(kNgram, 5);
  fates.arrive(kHead, 3);
  fates.settle(kHead, 2, Fate::accepted);
  EXPECT_EQ(fates.received(kHead), 3U);
  EXPECT_EQ(fates.of(kHead, Fate::accepted), 2U);
  EXPECT_EQ(fates.of(kNgram, Fate::accepted), 0U);
  EXPECT_EQ(fates.of(Fate::held), 6U);
}

TEST(NodeFates, DieOnANodeThatGetsASecondFate) {
  NodeFates fates;
  fates.arrive(kNgram, 1);
  fates.settle(kNgram, 1, Fate::late);
  EXPECT_DEATH(fates.settle(kNgram, 1, Fate::stale), "1 nodes get a fate and 0 are held");
}

TEST(NodeFates, DieOnAFateOfAnotherKindsNode) {
  NodeFates fates;
  fates.arrive(kNgram, 1);
  EXPECT_DEATH(fates.settle(kHead, 1, Fate::stale), "1 nodes get a fate and 0 are held");
}

TEST(SequenceFates, AreEnteredInTheVerifiersLedgerToo) {
  NodeFates verifier;
  SequenceFates first(verifier), second(verifier);
  first.arrive(kNgram, 3);
  second.arrive(kHead, 4);
  second.settle(kHead, 4, Fate::trimmed);
  EXPECT_EQ(first.of(Fate::held), 3U);
  EXPECT_EQ(verifier.received(), 7U);
  EXPECT_EQ(verifier.of(Fate::trimmed), 4U);
}

TEST(SequenceFates, OfATreeThatWasCutAreTrimmedButForTheNodesThatStayed) {
  NodeFates verifier;
  SequenceFates fates(verifier);
  fates.arrive(kNgram, 2);
  fates.arrive(kHead, 2);
  std::vector<KindIndex> kinds{kNgram, kHead, kNgram, kHead};
  fates.trim(kinds, std::vector<int32_t>{0, 3});
  EXPECT_EQ(kinds, (std::vector<KindIndex>{kNgram, kHead}));
  EXPECT_EQ(verifier.of(kNgram, Fate::trimmed), 1U);
  EXPECT_EQ(verifier.of(kHead, Fate::trimmed), 1U);
}

}  // namespace
}  // namespace slipstream
