#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "research/theory/leviathan.h"
#include "research/theory/one_token.h"
#include "research/theory/round_length.h"
#include "research/theory/sections.h"

namespace slipstream::theory {
namespace {

constexpr double kAlphas[] = {0.5, 0.6, 0.7, 0.8, 0.9};
constexpr int kLengths[] = {1, 2, 4, 6, 8, 10};
constexpr int kLengthsShown = 10;
constexpr double kCost = 0.05, kOperations = 0.05;  // c and c_hat
constexpr double kCosts[] = {0.01, 0.02, 0.05, 0.1};
constexpr int kChainDrafts = 5;  // the formula for block verification walks 7^5 paths for each prompt

// A pair of distributions that share the mass alpha on two tokens. Every draft is accepted with
// probability alpha, whatever came before.
struct Iid {
  ChainPair pair;
  double alpha;  // in steps of 1 / kDraftDistributionTotal
};
Iid iid(double alpha, int horizon) {
  const auto shared = static_cast<uint64_t>(std::lround(alpha * static_cast<double>(kDraftDistributionTotal)));
  const uint64_t first = shared * 2 / 3;
  OwnedDistribution target, draft;
  for (OwnedDistribution* distribution : {&target, &draft}) distribution->add(0, first), distribution->add(1, shared - first);
  // The rest of each is a token that the other never emits.
  target.add(2, kDraftDistributionTotal - shared);
  draft.add(3, kDraftDistributionTotal - shared);
  return {ChainPair::constant(target, draft, horizon),
          static_cast<double>(shared) / static_cast<double>(kDraftDistributionTotal)};
}

Estimate tokens_of_a_round(Study& study, const ChainPair& pair, int drafts, const Verify& verify) {
  return study.mean(study.runs(), [&](RandomPair& random) {
    return static_cast<double>(decode_one_round(pair, {.length_max = drafts}, verify, random));
  });
}

// The same rounds give the points of all three figures: tokens, speed, operations.
struct Simulated {
  double alpha;
  int drafts;
  Estimate tokens;
};
std::vector<Simulated> simulate(Study& study) {
  std::vector<Simulated> all;
  for (const double alpha : kAlphas) {
    study.tell(fmt::format("i.i.d. acceptance, alpha {}", alpha));
    const Iid chain = iid(alpha, kLengthsShown + 1);
    for (const int drafts : kLengths) {
      all.push_back({chain.alpha, drafts, tokens_of_a_round(study, chain.pair, drafts, by_ratio())});
    }
  }
  return all;
}

// One curve for each alpha. `of` computes the dots from the number of tokens a round.
void curves(Exhibit& exhibit, const std::vector<Simulated>& simulated, const std::string& what,
            const std::function<double(double alpha, int drafts)>& formula,
            const std::function<Estimate(const Simulated&)>& of) {
  int colour = 0;
  for (const double alpha : kAlphas) {
    Series line{.name = fmt::format("α = {}", alpha), .colour = colour};
    Series dots{.name = "", .look = Series::Look::dots, .colour = colour++};
    for (int drafts = 0; drafts <= kLengthsShown; ++drafts) {
      line.points.push_back({static_cast<double>(drafts), formula(iid(alpha, 1).alpha, drafts)});
    }
    for (const Simulated& one : simulated) {
      if (std::abs(one.alpha - alpha) > 1e-3) continue;
      const Estimate value = of(one);
      dots.points.push_back({static_cast<double>(one.drafts), value.mean, value.half_width()});
      exhibit.comparisons.push_back(
          {fmt::format("{}, α {}, γ {}", what, alpha, one.drafts), formula(one.alpha, one.drafts), value});
    }
    exhibit.figure.series.push_back(std::move(line));
    exhibit.figure.series.push_back(std::move(dots));
  }
}

Exhibit tokens_figure(const std::vector<Simulated>& simulated) {
  Exhibit exhibit{
      .figure = {.title = "Tokens of one verification, i.i.d. acceptance",
                 .x = {"γ, drafts"},
                 .y = {"tokens", false, true},
                 .series = {}},
      .source = "2211.17192, Equation (1): (1 - α^(γ+1)) / (1 - α). Dots: accept_ratio.",
      .seen = "Each draft more brings α^γ tokens: the curve flattens towards 1 / (1 - α), the bound of any length."};
  curves(exhibit, simulated, "tokens", expected_tokens, [](const Simulated& one) { return one.tokens; });
  return exhibit;
}

Estimate scaled(const Estimate& estimate, double by) { return {estimate.mean * by, estimate.error * by, estimate.runs}; }

Exhibit walltime_figure(const std::vector<Simulated>& simulated) {
  Exhibit exhibit{
      .figure = {.title = fmt::format("Walltime improvement at c = {}", kCost),
                 .x = {"γ, drafts"},
                 .y = {"times as fast", false, true},
                 .series = {}},
      .source = "2211.17192, Theorem 3.8: tokens / (γc + 1). Dots: accept_ratio's tokens by the same cost.",
      .seen = "",
  };
  curves(
      exhibit, simulated, "speed", [](double alpha, int drafts) { return walltime_improvement(alpha, drafts, kCost); },
      [](const Simulated& one) { return scaled(one.tokens, 1 / (one.drafts * kCost + 1)); });
  for (const double alpha : kAlphas) {
    const int best = best_draft_length(alpha, kCost);
    exhibit.seen += fmt::format("α {}: {:.2f} times at γ = {}. ", alpha, walltime_improvement(alpha, best, kCost), best);
  }
  exhibit.seen += "Behind its best length a curve falls slowly: one draft too many costs less than one too few.";
  return exhibit;
}

Exhibit operations_figure(const std::vector<Simulated>& simulated) {
  Exhibit exhibit{
      .figure = {.title = fmt::format("Operations at ĉ = {}", kOperations),
                 .x = {"γ, drafts"},
                 .y = {"times the operations", false, true},
                 .series = {}},
      .source = "2211.17192, Theorem 3.11: (γĉ + γ + 1) / tokens. Dots: accept_ratio.",
      .seen =
          "Every drafted token is computed by the target too, accepted or not, so that operations grow nearly by γ where "
          "drafts are poor: speculation pays where arithmetic is idle."};
  curves(
      exhibit, simulated, "operations", [](double alpha, int drafts) { return operations_factor(alpha, drafts, kOperations); },
      [](const Simulated& one) {  // error of 1 / tokens, to first order
        const double work = one.drafts * kOperations + one.drafts + 1, tokens = one.tokens.mean;
        return Estimate{work / tokens, work * one.tokens.error / (tokens * tokens), one.tokens.runs};
      });
  return exhibit;
}

Exhibit best_length_figure(Study& study) {
  study.tell("Optimal draft length");
  Exhibit exhibit{
      .figure = {.title = "Optimal draft length", .x = {"α, acceptance rate"}, .y = {"best γ", false, true}, .series = {}},
      .source =
          "2211.17192, Section 3.5: the γ of the highest walltime improvement. Dots: the best length by simulated "
          "tokens (accept_ratio on chains of 32).",
      .seen =
          "Cheaper and better drafts should be longer. The dots are the best of simulated means, which lie so close "
          "around the maximum that chance may move one by a draft or two; the table compares the speed there."};
  std::vector<Series> dots;
  int colour = 0;
  for (const double c : kCosts) {
    Series line{.name = fmt::format("c = {}", c), .colour = colour};
    for (double alpha = 0.02; alpha < 0.921; alpha += 0.005) {
      line.points.push_back({alpha, static_cast<double>(best_draft_length(alpha, c))});
    }
    exhibit.figure.series.push_back(std::move(line));
    dots.push_back({.name = "", .look = Series::Look::dots, .colour = colour++, .points = {}});
  }
  for (const double alpha : {0.3, 0.5, 0.6, 0.7, 0.8, 0.9}) {
    const Iid chain = iid(alpha, kTreeDepthMax + 1);
    std::vector<Mean> tokens(static_cast<size_t>(kTreeDepthMax) + 1);  // [drafts], over the same rounds
    study.answers(study.runs() / 4, [&](RandomPair& random) {
      const int emitted = decode_one_round(chain.pair, {.length_max = kTreeDepthMax}, by_ratio(), random);
      for (size_t drafts = 0; drafts < tokens.size(); ++drafts) {
        // A shorter chain would have emitted the same accepted tokens, cut at its length, so one
        // round serves all lengths.
        tokens[drafts].add(static_cast<double>(std::min(emitted, static_cast<int>(drafts) + 1)));
      }
    });
    for (size_t at = 0; at < dots.size(); ++at) {
      const auto speed = [&](int drafts) {
        return scaled(tokens[static_cast<size_t>(drafts)].estimate(), 1 / (drafts * kCosts[at] + 1));
      };
      int best = 0;
      for (int drafts = 1; drafts <= kTreeDepthMax; ++drafts) best = speed(drafts).mean > speed(best).mean ? drafts : best;
      dots[at].points.push_back({alpha, static_cast<double>(best)});
      const int right = std::min(best_draft_length(chain.alpha, kCosts[at]), kTreeDepthMax);
      exhibit.comparisons.push_back({fmt::format("speed at the best γ = {}, α {}, c {}", right, alpha, kCosts[at]),
                                     walltime_improvement(chain.alpha, right, kCosts[at]), speed(right)});
    }
  }
  for (Series& series : dots) exhibit.figure.series.push_back(std::move(series));
  return exhibit;
}

Exhibit dependent_figure(Study& study) {
  study.tell("Tokens of a verification where acceptance is not i.i.d.");
  const ChainPair pair = ChainPair::random({.horizon = kChainDrafts + 1, .hard = 0.5}, study.pair_seed());
  double alpha = 0;  // of the first draft
  for (TokenId prompt = 0; prompt < pair.vocabulary(); ++prompt) {
    alpha += (1 - rejection(pair.p(1, prompt), pair.q(1, prompt))) / pair.vocabulary();
  }
  Exhibit exhibit{.figure = {.title = "Tokens of one verification where acceptance depends on the text",
                             .x = {"drafts"},
                             .y = {"tokens"},
                             .series = {}},
                  .source =
                      "Exact: sums over the chain's states (ratio), over all paths (block verification, 2403.10444, Algorithm "
                      "2). Dots: accept_ratio, accept_traversal. i.i.d.: 2211.17192, Equation (1).",
                  .seen = ""};
  Series ratio{.name = "ratio rule", .colour = 0}, block{.name = "block verification", .colour = 1};
  Series same{.name = fmt::format("i.i.d. with α = {:.3f}", alpha), .look = Series::Look::dashed, .colour = 6};
  Series ratio_dots{.name = "", .look = Series::Look::dots, .colour = 0}, block_dots = ratio_dots;
  block_dots.colour = 1;
  for (int drafts = 0; drafts <= kChainDrafts; ++drafts) {
    const double by_one = expected_round_by_ratio(pair, drafts), by_all = expected_round_by_block(pair, drafts);
    const auto x = static_cast<double>(drafts);
    ratio.points.push_back({x, by_one});
    block.points.push_back({x, by_all});
    same.points.push_back({x, expected_tokens(alpha, drafts)});
    if (drafts == 0) continue;
    const Estimate one = tokens_of_a_round(study, pair, drafts, by_ratio());
    const Estimate all = tokens_of_a_round(study, pair, drafts, by_traversal());
    ratio_dots.points.push_back({x, one.mean, one.half_width()});
    block_dots.points.push_back({x, all.mean, all.half_width()});
    exhibit.comparisons.push_back({fmt::format("ratio rule, {} drafts", drafts), by_one, one});
    exhibit.comparisons.push_back({fmt::format("block verification, {} drafts", drafts), by_all, all});
    if (by_all < by_one - 1e-9) exhibit.broken.push_back("block verification accepts less than the ratio rule on a chain");
  }
  exhibit.seen = fmt::format(
      "Half of these rows are hard for the draft and half are easy. {} drafts bring {:.3f} tokens by the ratio rule, {:.3f} by "
      "block "
      "verification, {:.3f} if acceptance were i.i.d. with the first draft's rate: Theorem 1 needs no such assumption. Block "
      "verification is never worse on a chain; it is outside of Theorem 2's family, for it judges a block as one.",
      kChainDrafts, ratio.points.back().y, block.points.back().y, same.points.back().y);
  exhibit.figure.series = {ratio, ratio_dots, block, block_dots, same};
  return exhibit;
}

}  // namespace

Section throughput_section(Study& study) {
  const std::vector<Simulated> simulated = simulate(study);
  return {.title = "3. What i.i.d. acceptance promises: tokens, time, operations",
          .text =
              "Two distributions that share the mass α and nothing else, after every token: drafts are accepted with α, "
              "independently. c is "
              "the time of a draft pass, ĉ its operations, both over the target's.",
          .exhibits = {tokens_figure(simulated), walltime_figure(simulated), operations_figure(simulated),
                       best_length_figure(study), dependent_figure(study)}};
}

}  // namespace slipstream::theory
