// The rules that declare their bias, through the real processes. A drafted token has the
// distribution that the paper's formula gives for target and drafter, which is not the target's
// own, and every reply reports the variation between the two.
//
// Of three tokens the second one is drafted: the first comes with the prompt, and a draft of the
// last is not worth its cost. Given the first token, the variance of each second token is at
// most that of a draw from the mean distribution, so the test errs on the side of passing.
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/data/noisy_model.h"
#include "tests/e2e/support/draws.h"
#include "tests/e2e/support/prompt_ids.h"
#include "tools/statistics/chi_square.h"

namespace slipstream::e2e {
namespace {

using Json = nlohmann::json;
using Probabilities = std::vector<double>;

constexpr double kTemperature = 0.7;
constexpr size_t kDraws = 4000;
constexpr double kQuantised = 2e-3;  // of a drafter's distribution of 64 tokens, in steps of 2^-15

struct Rule {
  const char* name;
  double strength, delta = 0;

  Json json() const {
    Json json{{"rule", name}, {"nodes", 1}, {"depth", 1}};
    json[std::string_view(name) == "lenience" ? "lenience" : "epsilon"] = strength;
    if (std::string_view(name) == "typical") json["delta"] = delta;
    return json;
  }
};

// The probability that a draft with target probability p and draft probability q is accepted:
// 2211.17192, A.5; 2411.00841, Theorem 4; 2401.10774, Section 3.3.
double acceptance(const Rule& rule, double p, double q, double entropy) {
  const std::string_view name = rule.name;
  if (name == "lenience") return std::min(1.0, p / (rule.strength * q));
  if (name == "typical") return p > std::min(rule.strength, rule.delta * std::exp(-entropy)) ? 1.0 : 0.0;
  return std::min(1.0, (p + rule.strength) / q);  // pareto, uniform
}

// The distribution of the token that one draft stands for.
Probabilities distribution_of(const Rule& rule, std::span<const double> p, std::span<const double> q) {
  double entropy = 0;
  for (const double each : p) entropy -= each > 0 ? each * std::log(each) : 0;
  Probabilities distribution, left;
  double accepted = 0, residual = 0;
  for (size_t x = 0; x < p.size(); ++x) {
    distribution.push_back(q[x] > 0 ? q[x] * acceptance(rule, p[x], q[x], entropy) : 0);
    left.push_back(std::max(p[x] - distribution[x], 0.0));
    accepted += distribution[x];
    residual += left[x];
  }
  const bool repairs = std::string_view(rule.name) == "lenience" || std::string_view(rule.name) == "pareto";
  for (size_t x = 0; x < p.size(); ++x) distribution[x] += (1 - accepted) * (repairs ? left[x] / residual : p[x]);
  return distribution;
}

double variation(std::span<const double> a, std::span<const double> b) {
  double apart = 0;
  for (size_t x = 0; x < a.size(); ++x) apart += std::abs(a[x] - b[x]);
  return apart / 2;
}

TEST(DeclaredBias, OfADraftedTokenIsWhatTheReplySays) {
  Cluster cluster(tiny_model());
  const auto draft_model = noisy_model(tiny_model(), cluster.folder() / "noisy", 0.06F);
  cluster.start_router({"--deadline-us", "1000000", "--trust", "local", "--rules", "coupled,lenience,pareto,uniform,typical"});
  cluster.start_verifier(verify_every_draft());
  cluster.start_drafter({"--method", "small-lm", "--draft-model", draft_model.string()});
  cluster.wait_ports("verifier");
  cluster.wait_ready();
  cluster.wait_drafter();
  const auto prompt = prompt_ids(tiny_model(), kSampledWords);
  const auto target = ExactDistribution::of(tiny_model(), prompt, 2, {.temperature = kTemperature});
  const auto drafter = ExactDistribution::of(draft_model, prompt, 2, {.temperature = kTemperature});
  ASSERT_TRUE(target && drafter);
  const size_t vocabulary = target->candidates().size();
  for (const Rule& rule : {Rule{"lenience", 0.4}, Rule{"pareto", 0.05}, Rule{"uniform", 0.05}, Rule{"typical", 0.02, 0.3}}) {
    Probabilities counts(vocabulary), biased_distribution(vocabulary), own_distribution(vocabulary);
    double declared = 0;  // mean
    size_t plain = 0;     // answers whose draft was late, which depends on no draw
    const auto take = [&](size_t, const std::string& body) {
      const Json reply = Json::parse(body);
      const std::array first{reply["slipstream"]["token_ids"][0].get<TokenId>()};
      const auto own = target->after(first);
      const bool drafted = reply["metrics"]["speculative_decoding"]["acceptance_histogram_by_draft_length"].contains("1");
      const Probabilities distribution =
          drafted ? distribution_of(rule, own, drafter->after(first)) : Probabilities(own.begin(), own.end());
      const Json& speculation = reply["slipstream"]["speculation"];
      EXPECT_EQ(speculation["rule"], rule.name) << body;
      EXPECT_NEAR(speculation["bias_spent"].get<double>(), variation(distribution, own), kQuantised) << body;
      ++counts.at(reply["slipstream"]["token_ids"][1].get<size_t>());
      for (size_t second = 0; second < vocabulary; ++second) {
        biased_distribution[second] += distribution[second];
        own_distribution[second] += own[second];
      }
      declared += variation(distribution, own) / kDraws;
      plain += drafted ? 0 : 1;
    };
    ask_seeds(cluster, kDraws, {{"max_tokens", 3}, {"temperature", kTemperature}, {"speculation", rule.json()}}, take);
    const auto own = statistics::chi_square(counts, own_distribution);
    const auto biased = statistics::chi_square(counts, biased_distribution);
    fmt::print(
        "{:<9} mean variation {:.4f}; p-value of its distribution {:.2g}, of the target's {:.2g}; {} of {} without a draft\n",
        rule.name, declared, biased.p_value, own.p_value, plain, kDraws);
    EXPECT_GT(biased.p_value, kAlpha) << rule.name;
    EXPECT_LT(own.p_value, kAlpha) << rule.name;
  }
}

}  // namespace
}  // namespace slipstream::e2e
