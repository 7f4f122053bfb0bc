// Coupled sampling is exact through the real processes: over consecutive seeds, three
// consecutive tokens have the model's own joint distribution, whoever drafts. The seeds are
// fixed, so each test passes always or never.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/distribution_judge.h"
#include "tests/e2e/support/draws.h"
#include "tests/e2e/support/exact_distribution.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/prompt_ids.h"

namespace slipstream::e2e {
namespace {

constexpr double kPlanted = 0.01;  // total variation of an error that must be caught
constexpr size_t kAccepted = 3;    // tokens
constexpr Cells kCells{.ranks = kAccepted};

void print(const std::string& what, const Verdict& verdict) {
  fmt::print("{:<34} p-values: positions {:.2g}; joint {:.2g} (chi-square {:.1f}, {} degrees)\n", what,
             fmt::join(verdict.p_values(), ", "), verdict.joint.p_value, verdict.joint.statistic, verdict.joint.degrees);
}

// The answers that the oracle drafter is told: the tokens of each seed.
std::vector<Known> known_answers(const std::vector<Draw>& draws) {
  const std::vector<TokenId> prompt = prompt_ids(tiny_model(), kSampledWords);
  std::vector<Known> known;
  for (const Draw& draw : draws) known.push_back({prompt, draw, known.size()});
  return known;
}

// Further fields of a request, and the same as logits parameters of the exact distribution.
struct Asked {
  nlohmann::json fields = nlohmann::json::object();
  LogitsParams how;
};

std::vector<Draw> draws_with(const std::string& drafter, size_t count, const Asked& asked, const std::vector<Draw>& known) {
  Cluster cluster(tiny_model());
  if (drafter == "oracle") write_answers(cluster.folder() / "answers.json", known_answers(known));
  cluster.start_all(drafter);
  std::vector<Draw> draws(count);
  ask_seeds(cluster, count, asked.fields,
            [&](size_t seed, const std::string& reply) { draws[seed] = draw_in(reply, kAccepted); });
  const FateMetrics fates(cluster.settled_verifier());
  fmt::print("{}: {} draws, {} draft nodes received, {} accepted, {} rejected\n", drafter, count, fates.received,
             fates.accepted, fates.rejected);
  return draws;
}

void expect_exact(size_t count, double planted, const Asked& asked = {}) {
  const auto distribution =
      ExactDistribution::of(tiny_model(), prompt_ids(tiny_model(), kSampledWords), kAccepted, {.how = asked.how});
  ASSERT_TRUE(distribution) << distribution.error().message;
  const std::vector<Draw> awful = draws_with("random", count, asked, {});
  const std::vector<Draw> good = draws_with("oracle", count, asked, awful);
  EXPECT_EQ(awful, good) << "drafts changed a word";
  const Verdict verdict = judge(good, *distribution, *distribution, kCells);
  print(fmt::format("{} draws against the model's distribution", count), verdict);
  EXPECT_TRUE(verdict.exact());
  for (size_t position = 0; position < kAccepted; ++position) {
    ExactDistribution biased = *distribution;
    biased.bias(position, planted);
    const double power = power_in_ranks(position, *distribution, biased, *distribution, count);
    fmt::print("alpha {} a test; power against TV {} at position {}: {:.4f}\n", kAlpha, planted, position + 1, power);
    EXPECT_GE(power, 0.99);
    const Verdict caught = judge(good, biased, *distribution, kCells);
    print(fmt::format("TV {} planted at position {}", planted, position + 1), caught);
    EXPECT_FALSE(caught.exact()) << "an error of that size would pass";
  }
}

TEST(CoupledDistribution, OfThreeTokensIsTheModelsOverFiveThousandSeeds) { expect_exact(5'000, 5 * kPlanted); }

Asked processed() {
  return {
      .fields = {{"repetition_penalty", 1.5},
                 {"presence_penalty", -0.75},
                 {"frequency_penalty", 1.25},
                 {"logit_bias", {{"20", 2}, {"33", -1.5}}}},
      .how = {
          .repetition_penalty = 1.5F, .presence_penalty = -0.75F, .frequency_penalty = 1.25F, .bias = {{20, 2}, {33, -1.5F}}}};
}

TEST(CoupledDistribution, OfThreeTokensIsTheModelsUnderPenaltiesAndBiasOverFiveThousandSeeds) {
  expect_exact(5'000, 5 * kPlanted, processed());
}

TEST(CoupledDistributionLong, OfThreeTokensIsTheModelsOverAHundredAndFortyThousandSeeds) { expect_exact(140'000, kPlanted); }

TEST(CoupledDistributionLong, OfThreeTokensIsTheModelsUnderPenaltiesAndBiasOverAHundredAndFortyThousandSeeds) {
  expect_exact(140'000, kPlanted, processed());
}

}  // namespace
}  // namespace slipstream::e2e
