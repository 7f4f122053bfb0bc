#include "tools/slipstream/fleet_plan.h"

#include <gmock/gmock.h>

namespace slipstream::command {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(CpuSplit, NeverGivesMoreThreadsThanCpus) {
  for (int cpus = 1; cpus <= 64; ++cpus) {
    const CpuSplit split = CpuSplit::of(cpus);
    EXPECT_GE(split.verifier_threads, 1);
    EXPECT_LE(split.verifier_threads, cpus);
  }
}

TEST(CpuSplit, SharesTheCoresWithADraftModel) {
  for (int cpus = 2; cpus <= 64; ++cpus) {
    const CpuSplit split = CpuSplit::with_draft_model(cpus);
    EXPECT_EQ(split.verifier_threads + split.drafter_threads, cpus);
    EXPECT_GE(split.verifier_threads, split.drafter_threads);
  }
  EXPECT_EQ(CpuSplit::with_draft_model(1).drafter_threads, 1);
  EXPECT_EQ(CpuSplit::with_draft_model(1).words(),
            "1 CPU: verifier and drafter share it, so that most trees will come too late; give them two (--threads)");
  EXPECT_EQ(CpuSplit::with_draft_model(2).words(), "2 CPUs: the verifier computes on 1, the drafter on 1");
}

TEST(CpuSplit, LeavesACoreToRouterAndDrafterWhereThereAreEnough) {
  EXPECT_EQ(CpuSplit::of(2).verifier_threads, 2);
  EXPECT_EQ(CpuSplit::of(8).verifier_threads, 7);
  EXPECT_EQ(CpuSplit::of(8).words(), "8 CPUs: the verifier computes on 7; router and drafter share 1");
}

TEST(FleetOptions, WaitsForAModelsTreeAsItsMethodNeedsUnlessItIsTold) {
  EXPECT_EQ(deadline_of({.drafter = "small-lm"}), 200'000U);
  EXPECT_EQ(deadline_of({.drafter = "ngram"}), 3000U);
  EXPECT_EQ(deadline_of({.drafter = "small-lm", .deadline_us = 7000}), 7000U);
}

TEST(FleetSections, AreRefusedWhereServeSetsTheSame) {
  const std::vector<std::string> given{"--deadline-us", "3000", "--model-name", "a"};
  EXPECT_TRUE(check_section("router", given, std::vector<std::string>{"--lease-ms=5000", "--model-name=b"}));
  const auto refused = check_section("router", given, std::vector<std::string>{"--lease-ms=5000", "--deadline-us=3000"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the section [router] has deadline-us, which `slipstream serve` sets"));
  EXPECT_TRUE(check_section("router", given, std::vector<std::string>{"--deadline-us-x=3000"}));
}

TEST(FleetOptions, LetsItsRouterAllowTheRulesThatItIsGiven) {
  EXPECT_THAT(router_flags({.drafter = "ngram", .rules = "coupled,pareto"}),
              ElementsAre("--deadline-us", "3000", "--trust", "local", "--rules", "coupled,pareto"));
  EXPECT_THAT(router_flags({.drafter = "ngram"}), Not(Contains("--rules"))) << "the router has a default of its own";
  EXPECT_THAT(router_flags({.drafter = "ngram", .queue_wait_ms = 0}),
              ElementsAre("--deadline-us", "3000", "--queue-wait-ms", "0", "--trust", "local"));
}

TEST(FleetOptions, GivesItsRouterWhatConcernsClients) {
  const auto flags = router_flags({.api_key_file = "keys", .open = true, .model_name = "mine", .nodes_max = 3});
  EXPECT_THAT(flags, testing::IsSupersetOf({"--api-key-file", "keys", "--open", "--model-name", "mine", "--nodes-max", "3"}));
  EXPECT_THAT(router_flags({.allowed_host = {"a.example", "b.example"}}),
              testing::IsSupersetOf({"--allowed-host", "a.example", "--allowed-host", "b.example"}));
  EXPECT_THAT(router_flags({.tls_cert = "c", .tls_key = "k"}), testing::IsSupersetOf({"--tls-cert", "c", "--tls-key", "k"}));
  EXPECT_THAT(router_flags({.ollama = true, .strict = true}), testing::IsSupersetOf({"--ollama", "--strict"}));
  for (const char* flag :
       {"--tls-cert", "--api-key-file", "--allowed-host", "--ollama", "--strict", "--open", "--model-name", "--nodes-max"})
    EXPECT_THAT(router_flags({}), Not(Contains(flag))) << "the router has a default of its own";
}

TEST(FleetOptions, TakesAnIpv6AddressWithBracketsOrWithout) {
  for (const char* host : {"::1", "[::1]"})
    EXPECT_EQ(*http_endpoint({.host = host, .port = 80}), (Endpoint{"::1", 80})) << host;
  EXPECT_EQ(http_endpoint({.host = "localhost", .port = 80})->host, "127.0.0.1");
  EXPECT_FALSE(http_endpoint({.host = "a b"}));
}

TEST(FleetOptions, PutsTheMetricsOnLoopbackUnlessTheirPortIsFixed) {
  EXPECT_EQ(metrics_endpoint({.host = "0.0.0.0"}, "verifier"), (Endpoint{"127.0.0.1", 0}));
  const FleetOptions fixed{.host = "0.0.0.0", .metrics_port = 9100};
  EXPECT_EQ(metrics_endpoint(fixed, "verifier"), (Endpoint{"0.0.0.0", 9100}));
  EXPECT_EQ(metrics_endpoint(fixed, "drafter"), (Endpoint{"0.0.0.0", 9101}));
}

TEST(FleetOptions, FindsItsServicesOnThisMachineWhereverTheyListen) {
  EXPECT_EQ(near_host("0.0.0.0"), "127.0.0.1");
  EXPECT_EQ(near_host("::"), "::1");
  EXPECT_EQ(near_host("10.0.0.5"), "10.0.0.5");
}

TEST(FleetOptions, SaysHowLongADrafterIsWaitedForAndThatItIsTrusted) {
  EXPECT_THAT(drafting_words({.drafter = "small-lm"}),
              AllOf(HasSubstr("200 ms"), HasSubstr("--deadline-us"), HasSubstr("5 %"), HasSubstr("trusted")));
  EXPECT_THAT(drafting_words({.drafter = "ngram", .deadline_us = 500, .wait_percent = 80}),
              AllOf(HasSubstr("0.5 ms"), HasSubstr("80 %")));
  EXPECT_EQ(drafting_words({.drafter = "none", .resident = "none", .head = "none"}), "no drafter: all is decoded plainly");
  EXPECT_THAT(drafting_words({.drafter = "none", .head = "none"}), HasSubstr("the verifier drafts by ngram itself"));
  EXPECT_THAT(drafting_words({.drafter = "none", .head = "h"}), HasSubstr("drafts by ngram and draft head itself"));
  EXPECT_THAT(drafting_words({.drafter = "none", .resident = "none", .head = "h"}), HasSubstr("drafts by draft head itself"));
}

TEST(FleetOptions, GivesTheFileOfAnswersToOneProcessOnly) {
  const auto flags = [](const char* drafter, const char* resident, const char* service) {
    return look_up_flags({.drafter = drafter, .resident = resident, .corpora = {"a", "b"}, .look_up_file = "f"}, service);
  };
  const auto both = ElementsAre("--look-up-corpus", "a", "--look-up-corpus", "b");
  const auto with_file = ElementsAre("--look-up-corpus", "a", "--look-up-corpus", "b", "--look-up-file", "f");
  EXPECT_THAT(flags("ngram", "ngram", "verifier"), with_file);
  EXPECT_THAT(flags("ngram", "ngram", "drafter"), both);
  EXPECT_THAT(flags("ngram", "none", "drafter"), with_file);
  EXPECT_TRUE(flags("ngram", "none", "verifier").empty());
  EXPECT_TRUE(flags("small-lm", "ngram", "drafter").empty());
}

TEST(FleetOptions, SayWhatComputesTheModels) {
  EXPECT_THAT(compute_flags({}), ElementsAre("--device", "cpu", "--path", "auto", "--weights", "file"));
  EXPECT_THAT(compute_flags({.weights = "bf16", .path = "avx2"}),
              ElementsAre("--device", "cpu", "--path", "avx2", "--weights", "bf16"));
  EXPECT_THAT(compute_flags({.fine_rows = true}),
              ElementsAre("--device", "cpu", "--path", "auto", "--weights", "file", "--fine-rows"));
  EXPECT_THAT(compute_flags({.cache_memory = "2GiB"}),
              ElementsAre("--device", "cpu", "--path", "auto", "--weights", "file", "--cache-memory", "2GiB"));
}

TEST(FleetOptions, RefusesACorpusWhereNothingLooksUp) {
  const auto plan = FleetPlan::make({.drafter = "none", .resident = "none", .corpora = {"a"}});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("--resident ngram"));
}

TEST(FleetOptions, NeedTheHeadThatTheirDrafterRuns) {
  EXPECT_TRUE(check_head_is_there({.drafter = "draft-head", .head = "h"}).has_value());
  EXPECT_TRUE(check_head_is_there({.drafter = "ngram", .head = "none"}).has_value());
  const auto none = FleetPlan::make({.drafter = "draft-head", .head = "none"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("--drafter draft-head needs the draft head of"));
  EXPECT_THAT(drafting_words({.drafter = "draft-head", .resident = "none", .head = "h"}),
              Not(HasSubstr("beside the verifier's own")));
}

TEST(FleetOptions, NameTheFlagsAboutDraftsThatHaveNoUse) {
  EXPECT_TRUE(unused_drafting_flags({.corpora = {"a"}, .look_up_file = "f"}).empty());
  EXPECT_TRUE(unused_drafting_flags({.drafter = "none", .resident = "ngram", .look_up_file = "f"}).empty());
  EXPECT_TRUE(unused_drafting_flags({.drafter = "ngram", .resident = "none", .look_up_file = "f"}).empty());
  EXPECT_TRUE(unused_drafting_flags({.drafter = "small-lm", .draft_model = "m"}).empty());
  EXPECT_THAT(unused_drafting_flags({.drafter = "small-lm", .resident = "none", .look_up_file = "f"}),
              ElementsAre(HasSubstr("--look-up-file")));
  for (const char* drafter : {"ngram", "none"}) {
    EXPECT_THAT(unused_drafting_flags({.drafter = drafter, .draft_model = "m"}),
                ElementsAre(AllOf(HasSubstr("--draft-model m has no use with --drafter "), HasSubstr(drafter),
                                  HasSubstr("choose --drafter small-lm, or leave --draft-model out"))));
  }
}

}  // namespace
}  // namespace slipstream::command
