// Every unbiased rule through the real processes: the joint law of three consecutive tokens is the model's own, drafted for by
// a model of other weights, 32 streams at once. Seeds are fixed, but which of them meet in a step is not: alpha is what a
// failure is worth.
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/data/noisy_model.h"
#include "tests/e2e/node_fates.h"
#include "tests/e2e/prompt_ids.h"
#include "tests/e2e/triples.h"

namespace slipstream::e2e {
namespace {

constexpr double kTwoDeepLeast = 0.02;  // of the answers

const Adjustments kPenalties{.repetition_penalty = 1.5F, .frequency_penalty = 1.25F};

// Adjusted by what the output holds, a node of a tree by its own path.
nlohmann::json adjusting(const Adjustments& how) {
  return {{"repetition_penalty", how.repetition_penalty}, {"frequency_penalty", how.frequency_penalty}};
}

struct Case {
  const char* speculation;
  bool chain = false;  // else a new sequence's three nodes (speculation/guard.h) are all of one level
};
constexpr Case kRules[] = {{R"({"rule":"coupled"})"},
                           {R"({"rule":"ratio"})", true},
                           {R"({"rule":"ratio","siblings":2})"},
                           {R"({"rule":"batch","siblings":3})"},
                           {R"({"rule":"block"})", true},
                           {R"({"rule":"traversal","siblings":2})"}};

// The target drafted for by itself with noise on its weights.
void start(Cluster& cluster) {
  const auto draft_model = noisy_model(tiny_model(), cluster.folder() / "noisy", 0.06F);
  cluster.start_router({"--deadline-us", "1000000", "--trust", "local"});
  cluster.start_verifier({"--wait-percent", "100000"});
  cluster.start_drafter({"--method", "small-lm", "--draft-model", draft_model.string()});
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  cluster.wait_drafter();
}

void expect_law(size_t count, double planted, const std::vector<LawSetting>& settings) {
  Cluster cluster(tiny_model());
  start(cluster);
  NodeFates before(cluster.metrics("verifier"));
  for (const auto& [temperature, top_p, how] : settings) {
    const auto law = ExactLaw::of(tiny_model(), prompt_ids(tiny_model(), kTripleWords), {temperature, top_p, how});
    ASSERT_TRUE(law) << law.error().message;
    for (const int position : {1, 2}) {  // those that drafts may bend
      const double power = power_of_judge(*law, position, planted, count);
      fmt::print("alpha {} a test; power against TV {} at position {}: {:.4f}\n", kAlpha, planted, position + 1, power);
      EXPECT_GE(power, 0.99);
    }
    ExactLaw biased = *law;
    biased.bias(2, planted);
    for (const auto& [rule, chain] : kRules) {
      nlohmann::json request{{"temperature", temperature}, {"top_p", top_p}, {"speculation", nlohmann::json::parse(rule)}};
      request.update(adjusting(how));
      std::vector<Triple> triples(count);
      size_t two_deep = 0;
      ask_seeds(cluster, count, request, [&](size_t seed, const std::string& reply) {
        triples[seed] = triple_in(reply);
        two_deep += went_two_deep(reply);
      });
      const NodeFates after(cluster.settled_verifier());
      const Verdict verdict = judge(triples, *law, *law);
      const auto& [first, second, third] = verdict.positions;
      const double share = static_cast<double>(two_deep) / static_cast<double>(count);
      fmt::print(
          "{:<34} temperature {}, top-p {}: p-values {:.2g}, {:.2g}, {:.2g}; joint {:.2g}; {} of {} nodes accepted, "
          "two deep in {:.0f} % of answers\n",
          rule, temperature, top_p, first.p_value, second.p_value, third.p_value, verdict.joint.p_value,
          after.accepted - before.accepted, after.received - before.received, 100 * share);
      if (chain) {
        EXPECT_GT(share, kTwoDeepLeast) << "of the third token little is proved";
      }
      EXPECT_TRUE(verdict.exact()) << rule;
      EXPECT_FALSE(judge(triples, biased, *law).exact()) << "an error of " << planted << " would pass";
      EXPECT_GT(after.accepted, before.accepted);
      EXPECT_GT(after.rejected, before.rejected);
      before = after;
    }
  }
}

TEST(RulesLaw, OfThreeTokensIsTheModels) { expect_law(3'000, 0.1, {{.temperature = 0.7}}); }

TEST(RulesLaw, OfThreeTokensUnderPenaltiesIsTheModels) { expect_law(3'000, 0.1, {{.temperature = 0.7, .how = kPenalties}}); }

TEST(RulesLawLong, OfThreeTokensIsTheModels) {
  expect_law(140'000, 0.01,
             {{.temperature = 0.7},
              {.temperature = 1.2},
              {.temperature = 1.2, .top_p = 0.9},
              {.temperature = 0.7, .how = kPenalties}});
}

}  // namespace
}  // namespace slipstream::e2e
