// The router reads the numbers that its tuner needs off the pages that workers really write.
#include "services/router/read_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/metrics/build_info.h"
#include "services/router/promql.h"
#include "services/router/tuning_metrics.h"
#include "tests/unit/services/router/worker_pages.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

Result<WorkerReading> read(const std::string& text) {
  TRY(const Scrape page, Scrape::parse(text));
  return read_worker(page);
}

TEST(ReadWorker, ReadsAVerifier) {
  VerifierCounters counters = busy_verifier({"small-lm", "tiny \"one\""});
  work(counters, 3);
  counters.plain_rounds = 5;
  counters.step_overhead = 0.25;
  counters.draft_kinds.front().answer_seconds = 0.5;
  counters.draft_kinds.front().met_deadlines = 7;
  counters.draft_kinds.front().missed_deadlines = 2;
  const auto worker = read(page_of(counters));
  ASSERT_TRUE(worker) << worker.error().message;
  const auto& reading = std::get<VerifierReading>(*worker);
  EXPECT_EQ(reading.steps, 3);
  EXPECT_DOUBLE_EQ(reading.step_seconds, 0.036);
  EXPECT_DOUBLE_EQ(reading.wait_seconds, 0.012);
  EXPECT_EQ(reading.rounds, 11) << "of drafts, and plain ones";
  EXPECT_EQ(reading.tokens, 12);
  EXPECT_EQ(reading.step_overhead, 0.25);
  ASSERT_EQ(reading.step_cost.size(), kCostRows.size());
  EXPECT_EQ(reading.step_cost[2].rows, kCostRows[2]);
  EXPECT_DOUBLE_EQ(reading.step_cost[2].seconds, counters.step_cost[2]);
  ASSERT_EQ(reading.kinds.size(), 1u);
  const KindReading& kind = reading.kinds.front();
  EXPECT_EQ(kind.kind, (TunedKind{"small-lm", "tiny \"one\""}));
  EXPECT_EQ(kind.answer_seconds, 0.5);
  EXPECT_EQ(kind.in_time, 7);
  EXPECT_EQ(kind.late, 2);
  for (size_t bin = 0; bin < kind.by_survival.size(); ++bin) {
    EXPECT_EQ(kind.by_survival[bin].verified, 3) << bin;
    EXPECT_NEAR(kind.by_survival[bin].expected, 3 * (static_cast<double>(bin) + 0.5) / 10, 1e-9);
    EXPECT_EQ(kind.by_survival[bin].accepted, bin < 5 ? 0 : 3);
  }
  EXPECT_EQ(kind.by_depth[0].verified, 30);
  EXPECT_EQ(kind.by_depth[1].verified, 0);
}

TEST(ReadWorker, ReadsADrafter) {
  DrafterCounters counters{.method = "small-lm", .model = "tiny"};
  work(counters, 2);
  counters.nodes_discarded = 3;
  counters.empty_trees = 1;
  const auto worker = read(page_of(counters));
  ASSERT_TRUE(worker) << worker.error().message;
  const auto& reading = std::get<DrafterReading>(*worker);
  EXPECT_EQ(reading.kind, (TunedKind{"small-lm", "tiny"}));
  EXPECT_EQ(reading.jobs, 2);
  EXPECT_DOUBLE_EQ(reading.seconds, 0.008);
  EXPECT_EQ(reading.asks, 5) << "trees, and empty ones";
  EXPECT_EQ(reading.nodes, 19) << "also those that were not sent cost time";
  EXPECT_EQ(reading.by_levels[3].jobs, 2);
  EXPECT_EQ(reading.by_levels[3].levels, 8);
  EXPECT_DOUBLE_EQ(reading.by_levels[3].seconds, 0.008);
  EXPECT_EQ(reading.by_levels[0].jobs, 0);
}

TEST(ReadWorker, RefusesADrafterUnderANameThatNoneMayHave) {
  for (const DraftKind& kind : {DraftKind{"resident-ngram", ""}, DraftKind{"small-lm", "a\nb"}}) {
    DrafterCounters counters{.method = kind.method, .model = kind.model};
    work(counters, 2);
    EXPECT_FALSE(read(page_of(counters))) << kind.method;
  }
}

TEST(ReadWorker, RefusesOtherPages) {
  Exposition router;
  add_build_info("router", "", router);
  add_tuning_metrics({}, router);
  EXPECT_THAT(read(router.text()).error().message, HasSubstr("no worker"));
  EXPECT_THAT(read("").error().message, HasSubstr("no worker"));
  EXPECT_THAT(read(page_of(VerifierCounters{}) + page_of(DrafterCounters{})).error().message, HasSubstr("at once"));
}

TEST(ReadWorker, SaysWhatAPageLacks) {
  std::string page = page_of(busy_verifier({"ngram", ""}));
  const std::string waits(metric::kVerifierDraftWaitSeconds.name);
  for (size_t at = 0; (at = page.find(waits, at)) != std::string::npos;) page.replace(at, 3, "old");
  EXPECT_THAT(read(page).error().message, HasSubstr(waits));
}

TEST(ReadWorker, LeavesOutKindsBeyondTheLimit) {
  std::string page = page_of(busy_verifier({"0", ""}));
  for (size_t i = 1; i <= kTunedKindsMax; ++i) {
    page += fmt::format("{}{{method=\"{}\",model=\"\"}} 0.1\n", metric::kVerifierDraftAnswerSeconds.name, i);
  }
  const auto worker = read(page);
  ASSERT_TRUE(worker);
  EXPECT_EQ(std::get<VerifierReading>(*worker).kinds.size(), kTunedKindsMax);
}

// As Prometheus 2 answers /api/v1/query.
std::string answer_of(const Scrape& page, const std::string& instance) {
  std::string series;
  for (const Sample& sample : page.samples()) {
    std::string labels = fmt::format(R"("__name__":"{}","instance":"{}","job":"workers")", sample.name, instance);
    for (const auto& [name, value] : sample.labels) labels += fmt::format(R"(,"{}":"{}")", name, value);
    series +=
        fmt::format(R"({}{{"metric":{{{}}},"value":[1700000000.1,"{}"]}})", series.empty() ? "" : ",", labels, sample.value);
  }
  return R"({"status":"success","data":{"resultType":"vector","result":[)" + series + "]}}";
}

TEST(PromQl, GivesTheSameReadingAsThePage) {
  VerifierCounters counters = busy_verifier({"ngram", ""});
  work(counters, 7);
  const auto page = Scrape::parse(page_of(counters));
  ASSERT_TRUE(page);
  auto workers = read_query(answer_of(*page, "10.0.0.7:9100"));
  ASSERT_TRUE(workers) << workers.error().message;
  ASSERT_EQ(workers->size(), 1u);
  const auto back = Scrape::of(workers->at("10.0.0.7:9100"));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*read_worker(*back), *read_worker(*page));
}

TEST(PromQl, RefusesWhatIsNoVector) {
  for (const char* wrong :
       {"", "nonsense", "{}", R"({"status":"error"})",
        R"({"status":"success","data":{"resultType":"scalar","result":[1,"2"]}})",
        R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"b"},"value":[1]}]}})",
        R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":1},"value":[1,"2"]}]}})",
        R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"b"},"value":[1,"two"]}]}})"}) {
    EXPECT_FALSE(read_query(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace slipstream
