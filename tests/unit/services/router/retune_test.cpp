// What workers export changes how far their drafters guess: from the text of a page to the Assign.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/router/read_worker.h"
#include "tests/unit/services/router/router_stage.h"
#include "tests/unit/services/router/worker_pages.h"

namespace slipstream {
namespace {

const std::string kVerifierPage = "http://v/metrics", kDrafterPage = "http://d/metrics";

class Retuning : public RouterTest {
 protected:
  Retuning() {
    Hello hello = verifier(kVerifier);
    hello.sequences_max = 8;
    stage.hears(kVerifier, hello);
    Hello drafts = drafter(kDrafter, "tcp://d");
    drafts.methods = {"small-lm"};
    drafts.draft_model = "tiny";
    stage.hears(kDrafter, drafts);
  }
  void starts(RequestId id) {
    stage.tell(ask(id, 40));
    stage.says<Start>();
    accept(kVerifier, id, 1);
  }
  void scraped(const std::string& source, const std::string& text) {
    Scraped event{.source = source, .what = NoReading{.reached = true}};
    if (const auto page = Scrape::parse(text)) {
      if (auto reading = read_worker(*page)) event.what = *std::move(reading);
    }
    stage.tell(std::move(event));
  }
  void scrape() {
    lives(milliseconds(300), {kVerifier, kDrafter});
    scraped(kVerifierPage, page_of(verifies));
    scraped(kDrafterPage, page_of(drafts));
  }
  // As scrapes of a verifier for which survivals above a half are worth drafting.
  void tunes() {
    scrape();
    for (int i = 0; i < 4; ++i) {
      work(verifies, 10);
      work(drafts, 10);
      scrape();
    }
    lives(milliseconds(300), {kVerifier, kDrafter});  // until it is decided
  }
  const TunerSetting& setting() const { return router.counters().tuning->settings.at(0); }

  VerifierCounters verifies = busy_verifier({"small-lm", "tiny"});
  DrafterCounters drafts{.method = "small-lm", .model = "tiny"};
};

TEST_F(Retuning, AScrapedPageChangesTheNextAssign) {
  starts(1);
  tunes();
  const auto assign = stage.says<Assign>();
  EXPECT_EQ(assign.peer, kVerifier);
  ASSERT_EQ(assign.message.drafters.size(), 1u);
  const Tuning& tuning = assign.message.drafters[0].tuning;
  EXPECT_EQ(tuning.version, setting().version);
  EXPECT_GT(tuning.version, 0u);
  EXPECT_EQ(tuning.depth_max, 2) << "levels of 1 ms, before the deadline of 3 ms";
  EXPECT_NEAR(tuning.threshold, 0.5, 0.1) << "what its drafter calls less likely than a half is never right";
  EXPECT_EQ(tuning.threshold, setting().threshold);
  EXPECT_EQ(tuning.reason, "price");
  EXPECT_EQ(assign.message.drafters[0].incarnation, kDrafter.id);
  EXPECT_EQ(router.counters().retunes, 1u);
  EXPECT_EQ(router.counters().assigns, 0u) << "it has the same drafters";
}

TEST_F(Retuning, ARequestThatBeginsLaterBeginsWithTheSetting) {
  tunes();
  stage.tell(ask(1, 40));
  const Tuning tuning = stage.says<Start>().message.drafters.at(0).tuning;
  EXPECT_EQ(tuning.threshold, setting().threshold);
  EXPECT_EQ(tuning.version, setting().version);
}

TEST_F(Retuning, NoChangeIsNoAssign) {
  starts(1);
  tunes();
  stage.says<Assign>();
  const uint32_t version = setting().version;
  for (int i = 0; i < 3; ++i) {
    work(verifies, 10);
    work(drafts, 10);
    scrape();
  }
  EXPECT_EQ(setting().version, version);
  EXPECT_EQ(router.counters().retunes, 1u);
}

TEST_F(Retuning, ARequestIsToldAtMostOnceASecond) {
  starts(1);
  scrape();
  work(verifies, 10);
  work(drafts, 10);
  scrape();
  lives(milliseconds(200), {kVerifier, kDrafter});
  EXPECT_EQ(stage.says<Assign>().message.version, 1u);
  const uint64_t before = router.counters().tuning->counters.changes;
  work(verifies, 60, 0);
  work(drafts, 10);
  scrape();
  lives(milliseconds(300), {kVerifier, kDrafter});
  EXPECT_GT(router.counters().tuning->counters.changes, before) << "there is something to tell";
  EXPECT_EQ(router.counters().retunes, 1u);
  lives(milliseconds(800), {kVerifier, kDrafter});
  EXPECT_EQ(router.counters().retunes, 2u);
  EXPECT_EQ(router.counters().tuning->settings.at(0).version, router.counters().tuning->counters.changes);
}

TEST_F(Retuning, NonsenseAndSilenceChangeNothing) {
  starts(1);
  tunes();
  const float good = setting().threshold;
  for (int i = 0; i < 20; ++i) scraped(kVerifierPage, i % 2 == 0 ? "<html>" : "of_something_else 1\n");
  EXPECT_EQ(setting().threshold, good);
  EXPECT_GE(router.counters().tuning->counters.unreadable, 10u);
  lives(milliseconds(3000), {kVerifier, kDrafter});
  EXPECT_EQ(setting().threshold, good);
  EXPECT_EQ(setting().reason, TuneReason::stopped);
}

}  // namespace
}  // namespace slipstream
