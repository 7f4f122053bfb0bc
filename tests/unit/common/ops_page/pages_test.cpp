// Every page of every process, as promtool and common/metrics/names.h see it.
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/metrics/build_info.h"
#include "common/ops_page/loop_metrics.h"
#include "common/ops_page/server_metrics.h"
#include "common/service/trace_exporter.h"
#include "services/drafter/metrics_page.h"
#include "services/router/metrics_page.h"
#include "services/router/tuning_metrics.h"
#include "services/router/vllm_metrics.h"
#include "services/verifier/metrics_page.h"
#include "tests/unit/common/metrics/promtool.h"

namespace slipstream {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

RouterCounters busy_router() {
  RouterCounters counters;
  counters.workers = std::make_shared<const std::vector<WorkerFacts>>(
      std::vector<WorkerFacts>{{.role = Role::verifier, .incarnation = 1},
                               {.role = Role::drafter, .incarnation = 2, .greedy_gain = 1, .coupled_gain = 1}});
  counters.tuning =
      std::make_shared<const TuningFacts>(TuningFacts{.settings = {{.kind = {"small-lm", "tiny"}}}, .counters = {}});
  return counters;
}

VerifierCounters busy_verifier() {
  VerifierCounters counters;
  counters.draft_kinds.push_back({.kind = {.method = "ngram", .model = ""}, .greedy_gain = 1, .coupled_gain = 1});
  return counters;
}

template <class Counters>
std::string page_of(std::string_view role, const Counters& counters, void (*add)(const Counters&, Exposition&)) {
  Exposition page;
  add_build_info(role, "", page);
  add(counters, page);
  add_loop_metrics({}, {}, page);
  add_trace_metrics(page);
  add_server_metrics({}, page);
  return page.text();
}

void add_router(const RouterCounters& counters, Exposition& page) {
  add_router_metrics(counters, page);
  add_tuning_metrics(counters, page);
  add_error_metrics({}, page);
}

void add_verifier(const VerifierCounters& counters, Exposition& page) {
  add_verifier_metrics(counters, page);
  add_load_metrics({}, page);
}

std::vector<std::string> all_pages() {
  return {page_of("router", busy_router(), add_router), page_of("verifier", busy_verifier(), add_verifier),
          page_of("drafter", DrafterCounters(), add_drafter_metrics)};
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) found.insert((*it)[1]);
  return found;
}

TEST(MetricsPages, AreCleanForPromtool) {
  for (const std::string& page : all_pages()) EXPECT_THAT(promtool_complaints(page), IsEmpty());
}

// Nine kinds are the most that a verifier counts.
VerifierCounters all_kinds() {
  VerifierCounters counters;
  for (size_t kind = 0; kind <= kDraftKindsMax; ++kind) {
    DraftKindCounters& made = counters.draft_kinds.emplace_back();
    made.kind = {.method = "small-lm", .model = fmt::format("smollm2-135m-instruct-{}", kind)};
    for (size_t node = 0; node < 1000 + kind % 5; ++node) {
      const double chance = static_cast<double>(node % 100) / 100;
      made.reliability.verified(chance, true);
      made.by_survival.verified(chance, true);
    }
  }
  return counters;
}

TEST(MetricsPages, StaySmallWithEveryKindOfDrafter) {
  const std::string page = page_of("verifier", all_kinds(), add_verifier);
  EXPECT_LE(page.size(), 64 * 1024U);
  EXPECT_THAT(promtool_complaints(page), IsEmpty());
}

TEST(MetricsPages, TellTheBinsOfTheKindsThatDraftMost) {
  const std::string page = page_of("verifier", all_kinds(), add_verifier);
  const auto with = [&](const std::string& name) {
    return matches(page, name + R"re(\{method="small-lm",model="smollm2-135m-instruct-(\d)")re");
  };
  EXPECT_EQ(with("draft_survival_verified_nodes_total"), (std::set<std::string>{"3", "4"}));
  const auto told = with("draft_nodes_received_total");
  EXPECT_EQ(told.size(), kDraftKindsMax + 1);
}

TEST(MetricsPages, HaveEveryNameOfTheHeaderAndNoOther) {
  std::ifstream file(SLIPSTREAM_METRIC_NAMES);
  const std::string header((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string pages;
  for (const std::string& page : all_pages()) pages += page;
  EXPECT_EQ(matches(pages, "# TYPE (\\S+) "), matches(header, "\"(slipstream_[a-z_]+)\""));
}

// It was once 1 for what nobody had asked for.
TEST(MetricsPages, HaveTheGainOfThoseRequestsOnlyThatThereWere) {
  VerifierCounters counters = busy_verifier();
  counters.draft_kinds.front().coupled_gain.reset();
  counters.draft_kinds.front().parked = 3;
  const std::string page = page_of("verifier", counters, add_verifier);
  EXPECT_THAT(page, HasSubstr(R"(draft_gain_tokens{method="ngram",model="",rule="greedy"} 1)"));
  EXPECT_THAT(page, testing::Not(HasSubstr(R"(rule="coupled")")));
  EXPECT_THAT(page, HasSubstr(R"(parked_trees_total{method="ngram",model=""} 3)"));
}

std::string vllm_page(const RouterCounters& counters) {
  Exposition page;
  add_vllm_metrics(counters, "tiny", page);
  return page.text();
}

TEST(VllmMetrics, AreThoseOfTheTable) {
  std::ifstream file(SLIPSTREAM_METRICS_TABLE);
  const std::string table((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(matches(vllm_page({}), "# TYPE (\\S+) "), matches(table, "\\| `(vllm:[a-z0-9_]+)`"));
}

TEST(VllmMetrics, AllHaveTheLabelsModelNameAndEngine) {
  std::istringstream page(vllm_page({}));
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with('#')) continue;
    EXPECT_THAT(line, HasSubstr(R"(model_name="tiny",engine="0")"));
  }
}

TEST(VllmMetrics, TellTheCountersOfTheRouter) {
  RouterCounters counters{.stopped = 3, .length = 2, .abandoned = 1, .failed = 4, .waiting = 5, .live = 6};
  counters.output_tokens = 70;
  counters.first_token_seconds.observe(0.3);
  counters.speculation.draft_tokens = 8;
  const std::string page = vllm_page(counters);
  for (const char* line : {R"(vllm:request_success_total{model_name="tiny",engine="0",finished_reason="stop"} 3)",
                           R"(vllm:request_success_total{model_name="tiny",engine="0",finished_reason="abort"} 1)",
                           R"(vllm:num_requests_running{model_name="tiny",engine="0"} 6)",
                           R"(vllm:num_requests_waiting{model_name="tiny",engine="0"} 5)",
                           R"(vllm:generation_tokens_total{model_name="tiny",engine="0"} 70)",
                           R"(vllm:time_to_first_token_seconds_count{model_name="tiny",engine="0"} 1)",
                           R"(vllm:spec_decode_num_draft_tokens_total{model_name="tiny",engine="0"} 8)"}) {
    EXPECT_THAT(page, HasSubstr(std::string(line) + "\n"));
  }
}

}  // namespace
}  // namespace slipstream
