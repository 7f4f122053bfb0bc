#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "research/theory/chain_rejections.h"
#include "research/theory/sections.h"

namespace slipstream::theory {
namespace {

constexpr int kHorizon = 50;
constexpr int kCloud = 1500;
constexpr double kStrengths[] = {0, 0.02, 0.05, 0.1, 0.2, 0.4};         // at one token
constexpr double kAnswerStrengths[] = {0, 0.02, 0.05, 0.1, 0.15, 0.2};  // beyond these, hardly any answer has a rejection
constexpr double kLeniences[] = {1, 0.8, 0.6, 0.4, 0.2};
constexpr double kTypical[] = {0.02, 0.04, 0.08, 0.2};

const char* name_of(Bias::Kind kind) {
  switch (kind) {
    case Bias::Kind::lenience:
      return "lenience";
    case Bias::Kind::pareto:
      return "Decoding-OPT";
    case Bias::Kind::uniform:
      return "Decoding-UNO";
    case Bias::Kind::typical:
      return "typical acceptance";
  }
  return "";
}

// Returns a pair of one token: the row of a random pair whose distributions are furthest apart.
ChainPair furthest_apart(const Study& study) {
  const ChainPair pair = ChainPair::random({.horizon = kHorizon}, study.pair_seed());
  int row = 1;
  const auto apart = [&](int n) { return total_variation(pair.p(n, 0), pair.q(n, 0)); };
  for (int n = 2; n <= kHorizon; ++n) row = apart(n) > apart(row) ? n : row;
  const TokenDistribution target = pair.target(row, 0), draft = pair.draft(row, 0);
  const auto own = [](const TokenDistribution& distribution) {
    return OwnedDistribution{{distribution.ids.begin(), distribution.ids.end()},
                             {distribution.weights.begin(), distribution.weights.end()},
                             distribution.total};
  };
  return ChainPair::constant(own(target), own(draft), 1);
}

struct Measured {
  Estimate rejected, bias;
};

// Measures the bias on the tokens that the rule emits too often; the formula tells which these are.
// Their share in the output minus their mass in p is the total variation. A sum of absolute
// differences would be biased upwards.
Measured simulate(Study& study, const ChainPair& pair, const Bias& kind, const RejectionRule& rule) {
  const Shares p = pair.p(1, 0), q = pair.q(1, 0);
  const std::vector<double> out = emitted(rule, q);
  double too_often = 0, wanted = 0;
  for (size_t x = 0; x < out.size(); ++x) {
    if (out[x] > p[x]) too_often += out[x], wanted += p[x];
  }
  uint64_t rejected = 0, there = 0;
  const Verify verify = by_bias(kind);
  study.answers(study.runs(), [&](RandomPair& random) {
    const Answer answer = decode_to_the_horizon(pair, {}, verify, random);
    const auto x = static_cast<size_t>(answer.tokens[0]);
    rejected += answer.rejections > 0 ? 1 : 0;
    there += out[x] > p[x] ? 1 : 0;
  });
  const auto runs = static_cast<uint64_t>(study.runs());
  Measured point{share(rejected, runs, rejection(rule, q)), share(there, runs, too_often)};
  point.bias.mean -= wanted;
  return point;
}

void add_rule(Study& study, Exhibit& exhibit, const ChainPair& pair, const Bias& kind, Series& series) {
  const Shares p = pair.p(1, 0), q = pair.q(1, 0);
  const RejectionRule rule = rule_of(kind, p, q);
  const Measured point = simulate(study, pair, kind, rule);
  series.points.push_back({point.rejected.mean, point.bias.mean, point.bias.half_width(), point.rejected.half_width()});
  const std::string what = fmt::format("{}, {}", name_of(kind.kind), kind.strength);
  exhibit.comparisons.push_back({what + ": rejected", rejection(rule, q), point.rejected});
  exhibit.comparisons.push_back({what + ": bias", bias(rule, p, q), point.bias});
}

// Points of random rules, exactly: any acceptance b and any other distribution. They fill the
// region that rejection-based rules can reach.
Series cloud(Study& study, const ChainPair& pair, Exhibit& exhibit) {
  const Shares p = pair.p(1, 0), q = pair.q(1, 0);
  Series series{.name = "any b, any other distribution (exact)", .look = Series::Look::cloud, .colour = 6};
  CounterRandom random({.seed = study.fresh_seed()}, NoisePurpose::draft);
  const auto number = [&] { return static_cast<double>(random.pick(std::vector<double>(256, 1.0))) / 255; };
  for (int at = 0; at < kCloud; ++at) {
    // Half of the acceptances are arbitrary, half lean towards the draft as the rules do.
    const double lean = number() * number(), mix = number();
    std::vector<double> b;
    for (size_t x = 0; x < p.size(); ++x) b.push_back(std::min(1.0, number() < 0.5 ? number() : (p[x] + lean) / q[x]));
    RejectionRule rule = with_best_other(std::move(b), p, q);
    double sum = 0;
    std::vector<double> any;
    for (size_t x = 0; x < p.size(); ++x) sum += any.emplace_back(number() + 1e-3);
    for (size_t x = 0; x < p.size(); ++x) rule.other[x] = mix * rule.other[x] + (1 - mix) * any[x] / sum;
    const Point point{rejection(rule, q), bias(rule, p, q)};
    if (point.x + point.y < total_variation(p, q) - 1e-9) exhibit.broken.push_back("a rule lies below the line of Theorem 5");
    series.points.push_back(point);
  }
  return series;
}

Exhibit pareto(Study& study) {
  study.tell("Theorems 4 and 5: rejection against bias");
  const ChainPair pair = furthest_apart(study);
  const Shares p = pair.p(1, 0), q = pair.q(1, 0);
  const double apart = total_variation(p, q);
  Exhibit exhibit{.figure = {.title = "Theorem 5: rejection against bias at one token",
                             .x = {"rejected drafts", false, true},
                             .y = {"bias: total variation to the target", false, true},
                             .series = {}},
                  .source =
                      "2411.00841, Theorems 4 and 5, Figure 4; lenience 2211.17192, Appendix A.5; typical acceptance "
                      "2401.10774, delta = sqrt(epsilon). Simulated by accept_biased."};
  exhibit.figure.series.push_back(cloud(study, pair, exhibit));
  exhibit.figure.series.push_back({.name = fmt::format("Theorem 5: sum = TV(p, q) = {:.4f}", apart),
                                   .look = Series::Look::dashed,
                                   .colour = 6,
                                   .points = {{0, apart}, {apart, 0}}});
  int colour = 0;
  for (const Bias::Kind kind : {Bias::Kind::pareto, Bias::Kind::lenience, Bias::Kind::uniform, Bias::Kind::typical}) {
    const bool leans = kind == Bias::Kind::lenience, typical = kind == Bias::Kind::typical;
    Series dots{.name = std::string(name_of(kind)) + ", simulated", .look = Series::Look::dots, .colour = colour++};
    const std::span<const double> strengths = leans     ? std::span<const double>(kLeniences)
                                              : typical ? std::span<const double>(kTypical)
                                                        : std::span<const double>(kStrengths);
    for (const double strength : strengths) add_rule(study, exhibit, pair, {kind, strength, std::sqrt(strength)}, dots);
    exhibit.figure.series.push_back(std::move(dots));
  }
  Series uno{.name = "Decoding-UNO, formula", .colour = 2};
  for (double strength = 0; strength <= 0.5; strength += 0.01) {
    const RejectionRule rule = rule_of({Bias::Kind::uniform, strength}, p, q);
    uno.points.push_back({rejection(rule, q), bias(rule, p, q)});
  }
  exhibit.figure.series.push_back(std::move(uno));
  exhibit.seen = fmt::format(
      "Rejection and bias of Decoding-OPT and of lenience add up to {:.4f}, how far the two distributions are apart: a "
      "rejection saved "
      "is "
      "paid for in full. Decoding-UNO and typical acceptance pay more; of {} arbitrary rules none lies below the line, for "
      "what is "
      "emitted differs from the draft no more often than drafts are rejected, and TV(p, q) <= bias + that.",
      apart, kCloud);
  return exhibit;
}

Exhibit over_an_answer(Study& study) {
  study.tell("Theorems 4 and 5: over whole answers");
  const ChainPair pair = ChainPair::random({.horizon = kHorizon}, study.pair_seed());
  Exhibit exhibit{
      .figure = {.title = "Declared bias over an answer of 50 tokens",
                 .x = {"declared bias: total variation, added up over positions", false, true},
                 .y = {"rejections", false, true},
                 .series = {}},
      .source =
          "2411.00841, Theorem 5 at each position, under the distribution that is emitted. Simulated by accept_biased, "
          "with the bias that it declares."};
  int colour = 0;
  std::vector<double> apart;  // of Decoding-OPT
  for (const Bias::Kind kind : {Bias::Kind::pareto, Bias::Kind::uniform}) {
    Series line{.name = std::string(name_of(kind)) + ", formula", .colour = colour};
    Series dots{.name = std::string(name_of(kind)) + ", simulated", .look = Series::Look::dots, .colour = colour};
    const auto theory_at = [&](double strength) {
      return expected_biased(pair, [&](Shares p, Shares q) { return rule_of({kind, strength}, p, q); });
    };
    for (double strength = 0; strength <= 0.401; strength += 0.01) {
      const BiasedChain theory = theory_at(strength);
      line.points.push_back({theory.spent, theory.rejections});
      if (kind == Bias::Kind::pareto) apart.push_back(theory.apart);
    }
    for (const double strength : kAnswerStrengths) {
      const BiasedChain theory = theory_at(strength);
      Mean spent;
      const Verify verify = by_bias({kind, strength});
      const Estimate rejections = study.mean(study.runs() / 4, [&](RandomPair& random) {
        const Answer answer = decode_to_the_horizon(pair, {}, verify, random);
        spent.add(answer.spent);
        return answer.rejections;
      });
      dots.points.push_back({spent.estimate().mean, rejections.mean, rejections.half_width(), spent.estimate().half_width()});
      const std::string what = fmt::format("{}, epsilon {}", name_of(kind), strength);
      exhibit.comparisons.push_back({what + ": rejections", theory.rejections, rejections});
      exhibit.comparisons.push_back({what + ": declared bias", theory.spent, spent.estimate()});
    }
    exhibit.figure.series.push_back(std::move(line));
    exhibit.figure.series.push_back(std::move(dots));
    ++colour;
  }
  exhibit.seen = fmt::format(
      "Of Decoding-OPT the two add up to what the models are apart along the text that comes out, {:.3f} to {:.3f} here, since "
      "a bent "
      "distribution meets other states. Decoding-UNO spends more for the same rejections.",
      std::ranges::min(apart), std::ranges::max(apart));
  return exhibit;
}

}  // namespace

Section bias_section(Study& study) {
  return {.title = "2. Declared bias: Theorems 4 and 5",
          .text =
              "A rule that accepts more than the target's distribution allows saves rejections and bends what is said. The "
              "product offers "
              "such rules only where operator and request both ask, and declares what they spend.",
          .exhibits = {pareto(study), over_an_answer(study)}};
}

}  // namespace slipstream::theory
