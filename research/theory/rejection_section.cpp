#include <fmt/format.h>

#include <algorithm>

#include "research/theory/chain_rejections.h"
#include "research/theory/one_token.h"
#include "research/theory/sections.h"

namespace slipstream::theory {
namespace {

constexpr int kHorizon = 50;
constexpr int kBatchesSampled[] = {1, 2, 3, 4, 5, 6, 8};  // at most kSiblingsMax
constexpr int kBatchesShown = 32;
constexpr int kExampleBatches = 16;
constexpr uint64_t kVocabulary = 8;  // of the uniform example

ChainPair unrelated(const Study& study, int horizon) { return ChainPair::random({.horizon = horizon}, study.pair_seed()); }

// A band of the mean over the first runs, more and more of them, with its interval. Its last point
// is the mean over all.
Series convergence(Study& study, const std::string& name, int colour, const std::function<double(RandomPair&)>& answer,
                   Estimate& whole) {
  Series series{.name = name, .look = Series::Look::band, .colour = colour};
  Mean mean;
  double next = 10;
  int run = 0;
  whole = study.mean(study.runs(), [&](RandomPair& random) {
    const double value = answer(random);
    mean.add(value);
    // Points at growing distances, evenly spaced on a logarithmic axis.
    if (++run >= next || run == study.runs()) {
      const Estimate now = mean.estimate();
      series.points.push_back({static_cast<double>(run), now.mean, now.half_width()});
      next = std::max(next + 1, next * 1.33);
    }
    return value;
  });
  return series;
}

Series level(const std::string& name, int colour, double from, double to, double y) {
  return {.name = name, .look = Series::Look::dashed, .colour = colour, .points = {{from, y}, {to, y}}};
}

double rejections_of(const ChainPair& pair, int batch, RandomPair& random) {
  return decode_to_the_horizon(pair, {.drafts = batch}, by_ratio(), random).rejections;
}

Exhibit theorem_1(Study& study) {
  study.tell("Theorem 1: rejections of whole answers");
  Exhibit exhibit{.figure = {.title = "Theorem 1: rejections of an answer, as runs add up",
                             .x = {"runs", true},
                             .y = {"mean rejections of an answer"},
                             .series = {}},
                  .source =
                      "2411.00841, Theorem 1 and Figures 2(a), 5: E[rejections] = sum over n of E[TV(p_n, q_n)], over the "
                      "target's own distribution of the tokens before. Simulated by accept_ratio."};
  int colour = 0;
  for (const int horizon : {kHorizon, 2 * kHorizon}) {
    const ChainPair pair = unrelated(study, horizon);
    const double theory = expected_rejections(pair);
    Estimate whole;
    exhibit.figure.series.push_back(convergence(
        study, fmt::format("simulated, {} tokens", horizon), colour,
        [&](RandomPair& random) { return rejections_of(pair, 1, random); }, whole));
    exhibit.figure.series.push_back(level(fmt::format("Theorem 1: {:.3f}", theory), colour, 10, study.runs(), theory));
    exhibit.comparisons.push_back({fmt::format("rejections of {} tokens", horizon), theory, whole});
    exhibit.seen += fmt::format(
        "Of {} tokens {:.3f} are rejected by the formula and {:.3f} ± {:.3f} in {} simulated answers, so that "
        "an answer takes {:.2f} times fewer target passes than tokens where drafts cost nothing. ",
        horizon, theory, whole.mean, whole.half_width(), whole.runs, horizon / (theory + 1));
    ++colour;
  }
  exhibit.seen += "The bound is how far the two models are apart, token by token; nothing else enters.";
  return exhibit;
}

Exhibit theorem_2(Study& study) {
  study.tell("Theorem 2: other unbiased rules");
  const ChainPair pair = unrelated(study, kHorizon);
  const auto strict = [&](double by) {
    return expected_biased(pair, [&](Shares p, Shares q) { return rule_of({Bias::Kind::lenience, by}, p, q); }).rejections;
  };
  const double least = expected_rejections(pair);
  Exhibit exhibit{
      .figure = {.title = "Theorem 2: no unbiased rule rejects less",
                 .x = {"strictness s: b = min(1, p / (s q))"},
                 .y = {"rejections of 50 tokens"},
                 .series = {}},
      .source =
          "2411.00841, Theorem 2: over all b <= min(1, p/q) with the residual that keeps the target's distribution. "
          "Simulated by accept_biased at a lenience above 1."};
  Series formula{.name = "formula", .colour = 0}, simulated{.name = "simulated", .look = Series::Look::dots, .colour = 0};
  for (double by = 1; by <= 5.01; by += 0.1) formula.points.push_back({by, strict(by)});
  for (const double by : {1.0, 1.25, 1.5, 2.0, 3.0, 5.0}) {
    const Estimate mean = study.mean(study.runs() / 4, [&](RandomPair& random) {
      return decode_to_the_horizon(pair, {}, by_bias({Bias::Kind::lenience, by}), random).rejections;
    });
    simulated.points.push_back({by, mean.mean, mean.half_width()});
    exhibit.comparisons.push_back({fmt::format("rejections at strictness {}", by), strict(by), mean});
  }
  exhibit.figure.series = {formula, level(fmt::format("lower bound {:.3f}", least), 1, 1, 5, least), simulated};
  Table table{.head = {"rule of the family (all unbiased; exact)", "rejections of 50 tokens", "over the bound"}, .rows = {}};
  const size_t members = unbiased_family(pair.p(1, 0), pair.q(1, 0)).size();
  for (size_t at = 0; at < members; ++at) {
    const BiasedChain of = expected_biased(pair, [&](Shares p, Shares q) { return unbiased_family(p, q)[at].rule; });
    table.rows.push_back({unbiased_family(pair.p(1, 0), pair.q(1, 0))[at].name, fmt::format("{:.3f}", of.rejections),
                          fmt::format("{:.3f}", of.rejections - least)});
    if (of.rejections < least - 1e-9 || of.spent > 1e-9) exhibit.broken.push_back(table.rows.back()[0] + " is below the bound");
  }
  exhibit.tables.push_back(table);
  exhibit.seen = fmt::format(
      "Speculative decoding's own acceptance rejects {:.3f} of 50 tokens; every other unbiased rule of one draft a token "
      "rejects "
      "more. Fewer need several drafts (next), a block judged as one (section 3), or bias (section 2).",
      least);
  return exhibit;
}

Exhibit theorem_3(Study& study) {
  study.tell("Theorem 3: batches, as runs add up");
  const ChainPair pair = unrelated(study, kHorizon);
  Exhibit exhibit{.figure = {.title = "Theorem 3: rejections with batches of drafts, as runs add up",
                             .x = {"runs", true},
                             .y = {"mean rejections of an answer"},
                             .series = {}},
                  .source =
                      "2411.00841, Algorithm 4, Theorem 3, Figure 2(b): Theorem 1's rejections less the batch improvement, "
                      "gathered where the token before was rejected. Simulated by accept_ratio on trees of several drafts."};
  int colour = 0;
  for (const int batch : {1, 4}) {
    const std::string drafts = batch == 1 ? "1 draft" : fmt::format("{} drafts", batch);
    const double theory = expected_batch_rejections(pair, batch).rejections();
    Estimate whole;
    exhibit.figure.series.push_back(convergence(
        study, fmt::format("simulated, {}", drafts), colour,
        [&](RandomPair& random) { return rejections_of(pair, batch, random); }, whole));
    exhibit.figure.series.push_back(level(fmt::format("Theorem 3: {:.3f}", theory), colour, 10, study.runs(), theory));
    exhibit.comparisons.push_back({"rejections with " + drafts, theory, whole});
    exhibit.seen +=
        fmt::format("{}: {:.3f} by the formula, {:.3f} ± {:.3f} simulated. ", drafts, theory, whole.mean, whole.half_width());
    ++colour;
  }
  exhibit.seen += "A batch helps only at the first token after a rejection; from there its other drafts are of another text.";
  return exhibit;
}

Exhibit batch_sizes(Study& study) {
  study.tell("Theorem 3: rejections against batch size");
  const ChainPair pair = unrelated(study, kHorizon);
  const double limit = expected_batch_rejections(pair, kEndlessBatch).rejections();
  Exhibit exhibit{.figure = {.title = "Theorem 3: rejections against batch size",
                             .x = {"drafts in a batch"},
                             .y = {"rejections of 50 tokens"},
                             .series = {}},
                  .source = "2411.00841, Theorem 3, Proposition 1, Figure 2(c). Simulated by accept_ratio."};
  Series formula{.name = "Theorem 3", .colour = 0}, simulated{.name = "simulated", .look = Series::Look::dots, .colour = 0};
  for (int batch = 1; batch <= kBatchesShown; ++batch) {
    formula.points.push_back({static_cast<double>(batch), expected_batch_rejections(pair, batch).rejections()});
  }
  for (const int batch : kBatchesSampled) {
    const Estimate mean = study.mean(study.runs() / 4, [&](RandomPair& random) { return rejections_of(pair, batch, random); });
    simulated.points.push_back({static_cast<double>(batch), mean.mean, mean.half_width()});
    exhibit.comparisons.push_back(
        {fmt::format("rejections, batch {}", batch), formula.points[static_cast<size_t>(batch) - 1].y, mean});
  }
  const double one = formula.points.front().y, eight = formula.points[7].y;
  exhibit.figure.series = {formula, level(fmt::format("limit of many: {:.3f}", limit), 1, 1, kBatchesShown, limit), simulated};
  exhibit.seen = fmt::format(
      "From {:.3f} with one draft to {:.3f} with eight; never below {:.3f}, however many. What is left are the rejections in "
      "the "
      "middle of a draft, where there is one draft and no other.",
      one, eight, limit);
  return exhibit;
}

// The improvement at one token: the formula as a line, what the product's rule saves as dots.
void add_example(Study& study, Exhibit& exhibit, const std::string& name, const ChainPair& pair,
                 const std::function<double(int)>& improvement) {
  const int colour = static_cast<int>(exhibit.figure.series.size()) / 2;
  const double one = rejection(pair.p(1, 0), pair.q(1, 0));
  Series formula{.name = name, .colour = colour}, simulated{.name = "", .look = Series::Look::dots, .colour = colour};
  for (int batch = 1; batch <= kExampleBatches; ++batch) {
    formula.points.push_back({static_cast<double>(batch), improvement(batch)});
  }
  for (const int batch : kBatchesSampled) {
    uint64_t rejected = 0;
    const int runs = study.runs();
    study.answers(runs, [&](RandomPair& random) { rejected += rejections_of(pair, batch, random) > 0 ? 1 : 0; });
    const double theory = one - improvement(batch);
    const Estimate refused = share(rejected, static_cast<uint64_t>(runs), theory);
    simulated.points.push_back({static_cast<double>(batch), one - refused.mean, refused.half_width()});
    exhibit.comparisons.push_back({fmt::format("rejected, {}, batch {}", name, batch), theory, refused});
  }
  exhibit.figure.series.push_back(formula);
  exhibit.figure.series.push_back(simulated);
}

Exhibit uniform_example(Study& study) {
  study.tell("Theorem 3: the uniform example");
  Exhibit exhibit{
      .figure = {.title = "Batch improvement, uniform distributions: p on one of r equal parts of q's tokens",
                 .x = {"drafts in a batch"},
                 .y = {"rejections saved at one token", false, true},
                 .series = {}},
      .source = "2411.00841, Section 3.2: (1 - 1/r) - (1 - 1/r)^M. Dots: accept_ratio over 8 tokens.",
      .seen =
          "The improvement tends to 1 - 1/r, all that one draft loses, but slowly where r is large: then hardly any "
          "draft falls on a token of the target at all."};
  for (const uint64_t part : {4, 2, 1}) {
    OwnedDistribution target, draft;
    for (uint64_t x = 0; x < kVocabulary; ++x) {
      if (x < part) target.add(static_cast<TokenId>(x), 1);
      draft.add(static_cast<TokenId>(x), kDraftDistributionTotal / kVocabulary);
    }
    const double ratio = static_cast<double>(kVocabulary) / static_cast<double>(part);
    add_example(study, exhibit, fmt::format("r = {}", ratio), ChainPair::constant(target, draft, 1),
                [&](int batch) { return uniform_batch_improvement(ratio, batch); });
  }
  return exhibit;
}

Exhibit bernoulli_example(Study& study) {
  study.tell("Theorem 3: the Bernoulli example");
  Exhibit exhibit{.figure = {.title = "Batch improvement, two tokens: p says 1 with u, q with v",
                             .x = {"drafts in a batch"},
                             .y = {"rejections saved at one token", false, true},
                             .series = {}},
                  .source = "2411.00841, Section 3.2: |u - v| (1 - w^(M-1)), w = 1 - v if u > v, else v. Dots: accept_ratio.",
                  .seen =
                      "The limit is |u - v|, so that batches help where the draft is far off and hardly where it is near; they "
                      "help fast where the draft gives the missing token a fair chance."};
  for (const auto& [u, v] : {std::pair{0.875, 0.25}, {0.25, 0.75}, {0.5, 0.125}, {0.5, 0.625}}) {
    OwnedDistribution target, draft;
    const auto weight = [](double share) { return static_cast<uint64_t>(share * kDraftDistributionTotal); };
    target.add(0, weight(1 - u)), target.add(1, weight(u));
    draft.add(0, weight(1 - v)), draft.add(1, weight(v));
    add_example(study, exhibit, fmt::format("u = {}, v = {}", u, v), ChainPair::constant(target, draft, 1),
                [u = u, v = v](int batch) { return bernoulli_batch_improvement(u, v, batch); });
  }
  return exhibit;
}

}  // namespace

Section rejection_section(Study& study) {
  return {
      .title = "1. Rejections: Theorems 1, 2 and 3",
      .text =
          "Target and draft are two non-stationary Markov chains over 7 tokens whose rows are unrelated: seven uniform numbers "
          "each, normalised. Every position is judged against a draft, drafts cost nothing, and no token comes for free, as "
          "the paper assumes.",
      .exhibits = {theorem_1(study), theorem_2(study), theorem_3(study), batch_sizes(study), uniform_example(study),
                   bernoulli_example(study)}};
}

}  // namespace slipstream::theory
