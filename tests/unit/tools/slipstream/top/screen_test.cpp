#include "tools/slipstream/top/screen.h"

#include <gtest/gtest.h>

namespace slipstream::command::top {
namespace {

Scrape page(const std::string& text) { return *Scrape::parse(text); }

FleetLook look(double at_s, const std::string& router) {
  FleetLook look{.at_s = at_s, .url = "http://a:1", .model = "demo"};
  look.router = page(router);
  return look;
}

WorkerLook worker(const char* role, const char* incarnation, const std::string& text) {
  WorkerLook worker{.role = role, .incarnation = incarnation, .state = "ready"};
  if (!text.empty()) worker.page = page(text);
  return worker;
}

std::string first_tokens(int under_one_second, int all) {
  const std::string name = "slipstream_router_time_to_first_token_seconds";
  return name + "_bucket{le=\"1\"} " + std::to_string(under_one_second) + "\n" + name + "_bucket{le=\"2\"} " +
         std::to_string(all) + "\n" + name + "_bucket{le=\"+Inf\"} " + std::to_string(all) + "\n" + name + "_count " +
         std::to_string(all) + "\n";
}

TEST(Screen, HasRatesFromTwoLooks) {
  const auto before = look(10,
                           "slipstream_router_output_tokens_total{drafted=\"yes\"} 5\n"
                           "slipstream_router_output_tokens_total{drafted=\"no\"} 5\n");
  const auto now = look(12,
                        "slipstream_router_output_tokens_total{drafted=\"yes\"} 35\n"
                        "slipstream_router_output_tokens_total{drafted=\"no\"} 15\nslipstream_router_requests_live 3\n");
  const Screen screen = make_screen(&before, now);
  EXPECT_EQ(screen.span_s, 2);
  EXPECT_EQ(screen.router.tokens_per_s, 20);
  EXPECT_EQ(screen.router.drafted_share, 0.75);
  EXPECT_EQ(screen.router.running, 3);
}

TEST(Screen, HasNoRatesFromOneLook) {
  const Screen screen = make_screen(nullptr, look(10, "slipstream_router_output_tokens_total 5\n"));
  EXPECT_EQ(screen.span_s, std::nullopt);
  EXPECT_EQ(screen.router.tokens_per_s, std::nullopt);
}

TEST(Screen, HasPercentilesOfWhatCameBetweenTheLooksOrElseOfAll) {
  const auto before = look(1, first_tokens(90, 90)), same = look(2, first_tokens(90, 90)),
             more = look(3, first_tokens(90, 100));
  EXPECT_DOUBLE_EQ(make_screen(&before, more).router.first_token->p50, 1.5);
  EXPECT_FALSE(make_screen(&before, more).router.first_token->since_start);
  EXPECT_DOUBLE_EQ(make_screen(&before, same).router.first_token->p50, 0.5);
  EXPECT_TRUE(make_screen(&before, same).router.first_token->since_start);
  EXPECT_EQ(make_screen(nullptr, look(1, "")).router.first_token, std::nullopt);
}

TEST(Screen, TakesTheRatesOfAWorkerFromItsOwnPage) {
  auto before = look(0, ""), now = look(2, "");
  before.workers = {worker("verifier", "aaaaaaaa11",
                           "slipstream_verifier_step_seconds_sum 1\nslipstream_verifier_step_seconds_count 10\n"
                           "slipstream_verifier_step_rows_total 40\nslipstream_verifier_output_tokens_total 100\n")};
  now.workers = {worker("verifier", "aaaaaaaa11",
                        "slipstream_verifier_step_seconds_sum 2\nslipstream_verifier_step_seconds_count 20\n"
                        "slipstream_verifier_step_rows_total 100\nslipstream_verifier_output_tokens_total 150\n"),
                 worker("verifier", "bbbbbbbb22", "slipstream_verifier_output_tokens_total 900\n")};
  const Screen screen = make_screen(&before, now);
  ASSERT_EQ(screen.verifiers.size(), 2U);
  EXPECT_EQ(screen.verifiers[0].name, "aaaaaaaa");
  EXPECT_EQ(screen.verifiers[0].tokens_per_s, 25);
  EXPECT_EQ(screen.verifiers[0].steps_per_s, 5);
  EXPECT_DOUBLE_EQ(*screen.verifiers[0].step_s, 0.1);
  EXPECT_EQ(screen.verifiers[0].rows, 6);
  EXPECT_EQ(screen.verifiers[1].tokens_per_s, std::nullopt) << "it was not there before";
}

TEST(Screen, AddsUpWhatAllVerifiersCountedOfDrafts) {
  const std::string kind = "method=\"ngram\",model=\"\"";
  const auto counts = [&](int asked, int verified, int accepted) {
    return "slipstream_verifier_drafters{" + kind + "} 1\nslipstream_verifier_node_price_tokens 0.1\n" +
           "slipstream_verifier_draft_asks_total{" + kind + ",asked=\"yes\"} " + std::to_string(asked) + "\n" +
           "slipstream_verifier_draft_asks_total{" + kind + ",asked=\"fails\"} " + std::to_string(asked) + "\n" +
           "slipstream_verifier_draft_verified_nodes_total{" + kind + ",chance=\"0.5\"} " + std::to_string(verified) + "\n" +
           "slipstream_verifier_draft_accepted_nodes_total{" + kind + ",chance=\"0.5\"} " + std::to_string(accepted) + "\n" +
           "slipstream_verifier_draft_depth_verified_nodes_total{" + kind + ",depth=\"1\"} " + std::to_string(verified) + "\n" +
           "slipstream_verifier_draft_depth_accepted_nodes_total{" + kind + ",depth=\"1\"} " + std::to_string(accepted) + "\n";
  };
  auto before = look(0, ""), now = look(10, "");
  before.workers = {worker("verifier", "1", counts(0, 0, 0)), worker("verifier", "2", counts(5, 10, 5))};
  now.workers = {worker("verifier", "1", counts(10, 20, 5)), worker("verifier", "2", counts(15, 30, 20))};
  const Screen screen = make_screen(&before, now);
  ASSERT_EQ(screen.kinds.size(), 1U);
  EXPECT_EQ(screen.kinds[0].name, "ngram");
  EXPECT_EQ(screen.kinds[0].drafters, 2);
  EXPECT_EQ(screen.kinds[0].asked_per_s, 2);
  EXPECT_EQ(screen.kinds[0].asked_share, 0.5);
  EXPECT_EQ(screen.kinds[0].accepted_per_s, 2);
  EXPECT_EQ(screen.kinds[0].node_gain, 0.5);
  EXPECT_EQ(screen.kinds[0].node_cost, 0.1);
  ASSERT_EQ(screen.depths.size(), 1U);
  EXPECT_EQ(screen.depths[0].depth, "1");
  EXPECT_EQ(screen.depths[0].verified, 40);
  EXPECT_EQ(screen.depths[0].accepted, 20);
}

// Only what a greedy one won was shown, also where all requests were sampled.
TEST(Screen, TellsWhatAnAskWinsOfGreedyAndOfSampledRequestsWhereThatIsKnown) {
  const auto gain = [](const std::string& rule, const std::string& tokens) {
    return "slipstream_verifier_draft_gain_tokens{method=\"ngram\",model=\"\",rule=\"" + rule + "\"} " + tokens + "\n";
  };
  auto now = look(1, "");
  now.workers = {worker("verifier", "1", gain("coupled", "0.25")), worker("verifier", "2", gain("coupled", "0.75")),
                 worker("drafter", "3", "")};
  now.workers[2].coupled_gain = 0.5;
  const Screen screen = make_screen(nullptr, now);
  ASSERT_EQ(screen.kinds.size(), 1U);
  EXPECT_EQ(screen.kinds[0].greedy_gain, std::nullopt);
  EXPECT_EQ(screen.kinds[0].sampled_gain, 0.5);
  ASSERT_EQ(screen.drafters.size(), 1U);
  EXPECT_EQ(screen.drafters[0].greedy_gain, std::nullopt);
  EXPECT_EQ(screen.drafters[0].sampled_gain, 0.5);
}

TEST(Screen, SaysWhichThresholdHolds) {
  auto now = look(1, "");
  EXPECT_TRUE(make_screen(nullptr, now).thresholds.empty());
  now.tuning = TuningLook{.first_threshold = 0.75};
  EXPECT_EQ(make_screen(nullptr, now).thresholds.at(0).threshold, 0.75);
  now.tuning->kinds = {{.method = "small-lm", .model = "tiny", .threshold = 0.5, .why = "every node pays"}};
  EXPECT_EQ(make_screen(nullptr, now).thresholds.at(0).kind, "small-lm (tiny)");
}

TEST(Screen, OfARouterThatDoesNotAnswerSaysSo) {
  const FleetLook gone{.at_s = 5, .url = "http://a:1", .trouble = "the router does not answer"};
  const auto before = look(4, "");
  const Screen screen = make_screen(&before, gone);
  EXPECT_EQ(screen.trouble, "the router does not answer");
  EXPECT_EQ(screen.router.tokens_per_s, std::nullopt);
}

}  // namespace
}  // namespace slipstream::command::top
