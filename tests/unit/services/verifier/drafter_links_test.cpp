// Which links to drafters a verifier has when it meets more drafters than it has links for.
#include "services/verifier/drafter_links.h"

#include <fmt/format.h>

#include "common/engine/sequence_cache.h"
#include "tests/unit/services/verifier/verifier_stage.h"

namespace slipstream {
namespace {

std::string endpoint(int drafter) { return fmt::format("tcp://drafter-{}", drafter); }

class ManyDrafters : public testing::Test {
 protected:
  // A sequence that names these drafters; it stays until the next one comes.
  void names(const std::vector<int>& drafters, Time now = {}) {
    sequence_ =
        std::make_unique<VerifierSequence>(SequenceIdentity{}, GenerationSpec{}, CachedSequence(cache_.pool(), 1), fates_);
    for (const int drafter : drafters) sequence_->drafting.order.push_back(endpoint(drafter));
    for (const VerifierEffect& effect : effects_) {
      if (const Note* note = std::get_if<Note>(&effect)) warnings_ += note->warning ? 1 : 0;
    }
    effects_.clear();
    links_.open(*sequence_, {}, now, effects_);
  }
  DrafterLink* link(int drafter) { return links_.find(endpoint(drafter)); }
  void attach(int drafter) {
    links_.up(link(drafter)->peer, {}, effects_);
    links_.attached(
        {link(drafter)->peer, {.drafter = static_cast<Incarnation>(drafter + 1), .fingerprint = config_.fingerprint}}, {},
        effects_);
  }
  // All links are attached, each named one second after the one before.
  void fill() {
    for (int drafter = 0; drafter < kDrafterLinksMax; ++drafter) {
      names({drafter}, std::chrono::seconds(drafter));
      attach(drafter);
    }
  }

  const VerifierConfig config_ = config();
  VerifierCounters counters_;
  NodeFates fates_;
  SequenceCache cache_{32, [](const CachedSequence&) { return nullptr; }};
  std::unique_ptr<VerifierSequence> sequence_;
  std::vector<VerifierEffect> effects_;
  int warnings_ = 0;  // among the effects that were cleared
  DrafterLinks links_{config_, counters_, 1000};
};

TEST_F(ManyDrafters, TheLinkThatWasIdleLongestMakesRoom) {
  fill();
  names({100}, std::chrono::minutes(5));
  EXPECT_NE(link(100), nullptr);
  EXPECT_EQ(link(0), nullptr);
  EXPECT_NE(link(1), nullptr);
  EXPECT_EQ(counters_.links_refused, 0U);
}

TEST_F(ManyDrafters, ALinkThatIsNamedStays) {
  fill();
  names({0, 100}, std::chrono::minutes(5));
  EXPECT_NE(link(0), nullptr);
  EXPECT_EQ(link(1), nullptr);
}

TEST_F(ManyDrafters, ADrafterForWhichThereIsNoRoomIsCounted) {
  std::vector<int> all;
  for (int drafter = 0; drafter <= kDrafterLinksMax; ++drafter) all.push_back(drafter);
  names(all);
  EXPECT_EQ(link(kDrafterLinksMax), nullptr);
  EXPECT_EQ(counters_.links_refused, 1U);
}

TEST_F(ManyDrafters, AQuarantinedOneIsForgottenByTime) {
  names({0});
  attach(0);
  const Time cut = std::chrono::minutes(3);
  for (int strike = 0; strike < kStrikesMax; ++strike) links_.strike(link(0)->peer, cut, effects_);
  names({0, 1}, cut + kQuarantine - Time(1));
  EXPECT_TRUE(link(0)->quarantined);
  names({1}, cut + kQuarantine);
  EXPECT_EQ(link(0), nullptr);
}

TEST_F(ManyDrafters, AQuarantinedOneThatIsNamedGetsAnotherChanceInTime) {
  names({0});
  attach(0);
  for (int strike = 0; strike < kStrikesMax; ++strike) links_.strike(link(0)->peer, {}, effects_);
  for (Time now{}; now < kQuarantine; now += std::chrono::minutes(1)) {
    names({0}, now);
    EXPECT_TRUE(link(0)->quarantined);
  }
  names({0}, kQuarantine);
  EXPECT_FALSE(link(0)->quarantined);
}

TEST_F(ManyDrafters, ARestartedOneIsJudgedAnew) {
  names({0});
  attach(0);
  for (int ask = 0; ask < kTrialAsks; ++ask) link(0)->worth.of(Rule::greedy).asked(0, 4, {});
  EXPECT_TRUE(link(0)->worth.of(Rule::greedy).known({}));
  links_.down(link(0)->peer, effects_);
  links_.up(link(0)->peer, {}, effects_);
  links_.attached({link(0)->peer, {.drafter = 99, .fingerprint = config_.fingerprint}}, {}, effects_);
  EXPECT_FALSE(link(0)->worth.of(Rule::greedy).known({}));
}

TEST_F(ManyDrafters, OneUnderANameThatCannotBeShownOrIsTheVerifiersOwnDoesNotDraft) {
  names({0});
  links_.up(link(0)->peer, {}, effects_);
  for (const DraftKind& kind : {DraftKind{"resident-ngram", ""}, DraftKind{"small-lm", "tiny\nverifier: all is well"}}) {
    effects_.clear();
    links_.attached({link(0)->peer,
                     {.drafter = kind.model.empty() ? 1U : 2U,
                      .fingerprint = config_.fingerprint,
                      .method = kind.method,
                      .model = kind.model,
                      .refusal = ""}},
                    {}, effects_);
    EXPECT_FALSE(link(0)->attached) << kind.method;
    const Note& note = std::get<Note>(effects_.back());
    EXPECT_TRUE(note.warning);
    EXPECT_EQ(note.text.find(kind.model.empty() ? kind.method : kind.model), std::string::npos) << note.text;
    links_.down(link(0)->peer, effects_);
    links_.up(link(0)->peer, {}, effects_);
  }
}

// A router that names it for each request must not fill the log.
TEST_F(ManyDrafters, OneThatDoesNotFitIsWarnedOfOnce) {
  const auto refused = [&](Incarnation drafter) {
    names({0});
    links_.up(link(0)->peer, {}, effects_);
    links_.attached({link(0)->peer, {.drafter = drafter, .fingerprint = config_.fingerprint, .reads_features = true}}, {},
                    effects_);
    names({1}, 1s);  // nobody names it any more, so its link goes
    EXPECT_EQ(link(0), nullptr);
    return warnings_;
  };
  EXPECT_EQ(refused(7), 1);
  EXPECT_EQ(refused(7), 1);
  EXPECT_EQ(refused(8), 2) << "another life of it may be another program";
  EXPECT_EQ(refused(7), 2);
}

}  // namespace
}  // namespace slipstream
