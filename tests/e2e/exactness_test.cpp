// Coupled sampling is exact, through the real processes: the joint law of three consecutive tokens over consecutive seeds is
// the model's own, whoever drafts. The seeds are fixed, so each test passes or fails once and for all.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/cluster.h"
#include "tests/e2e/exact_law.h"
#include "tests/e2e/node_fates.h"
#include "tests/e2e/prompt_ids.h"
#include "tests/e2e/triple_judge.h"
#include "tests/e2e/triples.h"

namespace slipstream::e2e {
namespace {

constexpr double kPlanted = 0.01;  // total variation of an error that must be caught
void print(const std::string& what, const Verdict& verdict) {
  const auto& [first, second, third] = verdict.positions;
  fmt::print("{:<34} p-values: position 1 {:.2g}, 2 {:.2g}, 3 {:.2g}; joint {:.2g} (chi-square {:.1f}, {} degrees)\n", what,
             first.p_value, second.p_value, third.p_value, verdict.joint.p_value, verdict.joint.statistic,
             verdict.joint.degrees);
}

// What the oracle is told: the outcome of each seed.
std::vector<Known> known_answers(const std::vector<Triple>& triples) {
  const std::vector<TokenId> prompt = prompt_ids(tiny_model(), kTripleWords);
  std::vector<Known> known;
  for (const Triple& triple : triples) known.push_back({prompt, {triple.begin(), triple.end()}, known.size()});
  return known;
}

// A request's further fields, and what the law must make of them.
struct Asked {
  nlohmann::json fields = nlohmann::json::object();
  Adjustments how;
};

std::vector<Triple> draws_with(const std::string& drafter, size_t count, const Asked& asked, const std::vector<Triple>& known) {
  Cluster cluster(tiny_model());
  if (drafter == "oracle") write_answers(cluster.folder() / "answers.json", known_answers(known));
  cluster.start_all(drafter);
  std::vector<Triple> triples = draw_triples(cluster, count, asked.fields);
  const NodeFates fates(cluster.settled_verifier());
  fmt::print("{}: {} draws, {} draft nodes received, {} accepted, {} rejected\n", drafter, count, fates.received,
             fates.accepted, fates.rejected);
  return triples;
}

void expect_exact(size_t count, double planted, const Asked& asked = {}) {
  const auto law = ExactLaw::of(tiny_model(), prompt_ids(tiny_model(), kTripleWords), {.how = asked.how});
  ASSERT_TRUE(law) << law.error().message;
  const std::vector<Triple> awful = draws_with("random", count, asked, {});
  const std::vector<Triple> good = draws_with("oracle", count, asked, awful);
  EXPECT_EQ(awful, good) << "drafts changed a word";
  const Verdict verdict = judge(good, *law, *law);
  print(fmt::format("{} draws against the model's law", count), verdict);
  EXPECT_TRUE(verdict.exact());
  for (int position = 0; position < 3; ++position) {
    const double power = power_of_judge(*law, position, planted, count);
    fmt::print("alpha {} a test; power against TV {} at position {}: {:.4f}\n", kAlpha, planted, position + 1, power);
    EXPECT_GE(power, 0.99);
    ExactLaw biased = *law;
    biased.bias(position, planted);
    const Verdict caught = judge(good, biased, *law);
    print(fmt::format("TV {} planted at position {}", planted, position + 1), caught);
    EXPECT_FALSE(caught.exact()) << "an error of that size would pass";
  }
}

TEST(Exactness, OfThreeTokensOverFiveThousandSeeds) { expect_exact(5'000, 5 * kPlanted); }

Asked adjusted() {
  return {
      .fields = {{"repetition_penalty", 1.5},
                 {"presence_penalty", -0.75},
                 {"frequency_penalty", 1.25},
                 {"logit_bias", {{"20", 2}, {"33", -1.5}}}},
      .how = {
          .repetition_penalty = 1.5F, .presence_penalty = -0.75F, .frequency_penalty = 1.25F, .bias = {{20, 2}, {33, -1.5F}}}};
}

TEST(Exactness, OfThreeTokensUnderPenaltiesAndBiasOverFiveThousandSeeds) { expect_exact(5'000, 5 * kPlanted, adjusted()); }

TEST(ExactnessLong, OfThreeTokensOverAHundredAndTenThousandSeeds) { expect_exact(110'000, kPlanted); }

TEST(ExactnessLong, OfThreeTokensUnderPenaltiesAndBiasOverAHundredAndTenThousandSeeds) {
  expect_exact(110'000, kPlanted, adjusted());
}

}  // namespace
}  // namespace slipstream::e2e
