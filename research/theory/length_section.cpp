#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "research/theory/sections.h"

namespace slipstream::theory {
namespace {

constexpr int kHorizon = 64;
constexpr double kHard = 0.25;
constexpr int kLengthsMax = 12;
constexpr int kUnboundedLength = 20;  // limit for thresholds (2405.19715, Section 4.1)
constexpr std::array kThresholds{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.998, 0.9999};
constexpr int kGreedyPairs = 100;  // each with as many prompts as tokens
constexpr PassTimes kTimes;

struct Policy {
  std::string name;
  LengthPolicy length;
};

// The passes of one policy's answers.
struct Outcome {
  std::string name;
  Passes sum;
  Mean verified, discarded;  // rates in each answer
  int broken = 0;            // answers for which (2.2) or (2.3) did not hold

  void add(const Passes& passes) {
    sum += passes;
    verified.add(passes.verified / passes.tokens);
    discarded.add(passes.discarded / passes.tokens);
    const double total = total_time(passes, kTimes);
    const bool adds_up = passes.drafted + passes.verified == passes.tokens + passes.discarded;
    const bool same = std::abs(total - total_time_by_losses(passes, kTimes)) < 1e-9 &&
                      std::abs(total - latency(passes, kTimes) * passes.tokens) < 1e-9;
    broken += adds_up && same ? 0 : 1;
  }
  double latency_ms() const { return 1000 * latency(sum, kTimes); }
  double speed() const { return kTimes.target / latency(sum, kTimes); }  // relative to plain decoding
  Point in_plane() const {
    const Estimate up = verified.estimate(), across = discarded.estimate();
    return {across.mean, up.mean, up.half_width(), across.half_width()};
  }
  std::vector<std::string> row() const {
    return {name, fmt::format("{:.3f}", discarded.estimate().mean), fmt::format("{:.4f}", verified.estimate().mean),
            fmt::format("{:.2f}", latency_ms()), fmt::format("{:.3f}", speed())};
  }
};

const std::vector<std::string> kHead{"policy", "N_discarded / N", "N_target / N", "ms a token", "times plain decoding"};

const Outcome& fastest(const std::vector<Outcome>& outcomes) {
  return *std::ranges::min_element(outcomes, {}, &Outcome::latency_ms);
}

Series in_plane(const std::string& name, int colour, const std::vector<Outcome>& outcomes) {
  Series series{.name = name, .look = Series::Look::dots, .colour = colour, .points = {}};
  for (const Outcome& outcome : outcomes) series.points.push_back(outcome.in_plane());
  return series;
}

// Latency as a function of the candidates of one verification.
Series by_candidates(const std::string& name, int colour, Series::Look look, const std::vector<Outcome>& outcomes) {
  Series series{.name = name, .look = look, .colour = colour, .points = {}};
  for (const Outcome& outcome : outcomes) {
    series.points.push_back({outcome.sum.drafted / outcome.sum.verified, outcome.latency_ms()});
  }
  return series;
}

void note_broken(Exhibit& exhibit, const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    if (outcome.broken > 0)
      exhibit.broken.push_back(fmt::format("{}: (2.2) fails in {} answers", outcome.name, outcome.broken));
  }
}

std::vector<Policy> thresholds(LengthPolicy::Stop stop, const char* name) {
  std::vector<Policy> all;
  for (const double threshold : kThresholds) {
    all.push_back({fmt::format("{}, h = {}", name, threshold), {kUnboundedLength, stop, threshold}});
  }
  return all;
}

std::vector<Policy> fixed_lengths() {
  std::vector<Policy> all;
  for (int length = 1; length <= kLengthsMax; ++length) all.push_back({fmt::format("K = {}", length), {.length_max = length}});
  return all;
}

// Of the outcomes whose discard rate lies on the line of fixed lengths: how many verify less than
// the line there.
struct Below {
  int below = 0, all = 0;
};
Below below(const Series& line, const std::vector<Outcome>& outcomes) {
  Below count;
  for (const Outcome& outcome : outcomes) {
    const Point at = outcome.in_plane();
    for (size_t i = 1; i < line.points.size(); ++i) {
      const Point &left = line.points[i - 1], &right = line.points[i];
      if (at.x < left.x || at.x >= right.x) continue;
      ++count.all;
      count.below += at.y < left.y + (right.y - left.y) * (at.x - left.x) / (right.x - left.x) ? 1 : 0;
    }
  }
  return count;
}

// --- Sampled answers: SpecDec++'s Figure 4.

std::vector<Outcome> sampled(Study& study, const ChainPair& pair, const std::vector<Policy>& policies) {
  std::vector<Outcome> outcomes;
  study.tell(fmt::format("Candidate lengths: {} to {}", policies.front().name, policies.back().name));
  for (const Policy& policy : policies) {
    Outcome outcome{.name = policy.name};
    study.answers(std::max(study.runs() / 10, 2),
                  [&](RandomPair& random) { outcome.add(decode_in_rounds(pair, policy.length, by_ratio(), random).passes); });
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

struct Sampled {
  std::vector<Outcome> fixed, exact, confident;
};

Exhibit plane(const ChainPair& pair, const Sampled& all) {
  Exhibit exhibit{
      .figure = {.title = "Discarded against verified: fixed lengths and thresholds",
                 .x = {"discard rate N_discarded / N", false, true},
                 .y = {"verification rate N_target / N"},
                 .series = {}},
      .source =
          "2405.19715, Equations (2.2), (2.3) and Figure 4. Lines of fixed K exact, over the chain's states. Simulated "
          "by accept_ratio; exact head: 1 - prod min(1, p/q) > h; confidence: the product's StopRule, 1 - prod q > h.",
      .seen = ""};
  Series formula{.name = "fixed K, exact", .colour = 0};
  for (int length = 1; length <= kLengthsMax; ++length) {
    const Passes theory = expected_passes(pair, length);
    const Outcome& outcome = all.fixed[static_cast<size_t>(length) - 1];
    formula.points.push_back({theory.discarded / kHorizon, theory.verified / kHorizon});
    exhibit.comparisons.push_back(
        {fmt::format("N_target / N, K = {}", length), theory.verified / kHorizon, outcome.verified.estimate()});
    exhibit.comparisons.push_back(
        {fmt::format("N_discarded / N, K = {}", length), theory.discarded / kHorizon, outcome.discarded.estimate()});
  }
  exhibit.figure.series = {formula, in_plane("fixed K, simulated", 0, all.fixed),
                           in_plane("threshold, exact head", 1, all.exact),
                           in_plane("threshold, draft's confidence", 2, all.confident)};
  uint64_t answers = 0;
  for (const auto* outcomes : {&all.fixed, &all.exact, &all.confident}) {
    note_broken(exhibit, *outcomes);
    for (const Outcome& outcome : *outcomes) answers += outcome.verified.estimate().runs;
  }
  const Below exact = below(formula, all.exact), confident = below(formula, all.confident);
  exhibit.seen = fmt::format(
      "In each of {} simulated answers N_draft + N_target = N + N_discarded, and (2.1), (2.2) and (2.3) give the same time. "
      "Below the "
      "line of fixed lengths, verifying less for the same discards, are {} of {} thresholds on a head that knows every "
      "acceptance "
      "probability, and {} of {} on the draft's own confidence (counted where the line has the same discard rate).",
      answers, exact.below, exact.all, confident.below, confident.all);
  return exhibit;
}

Exhibit latencies(const Sampled& all) {
  Exhibit exhibit{
      .figure = {.title = "Milliseconds a token, at the paper's pass times",
                 .x = {"candidates of a verification, in the mean"},
                 .y = {"ms a token"},
                 .series = {}},
      .source = "2405.19715, Equation (2.3) at t_draft 23.4 ms and t_target 112 ms (its Section 4.2), plain decoding 112 ms.",
      .seen = ""};
  exhibit.figure.series = {by_candidates("fixed K", 0, Series::Look::line, all.fixed),
                           by_candidates("", 0, Series::Look::dots, all.fixed),
                           by_candidates("threshold, exact head", 1, Series::Look::dots, all.exact),
                           by_candidates("threshold, draft's confidence", 2, Series::Look::dots, all.confident)};
  const Outcome &fixed = fastest(all.fixed), &exact = fastest(all.exact), &confident = fastest(all.confident);
  exhibit.tables.push_back({kHead, {fixed.row(), confident.row(), exact.row()}});
  exhibit.seen = fmt::format(
      "The best fixed length ({}) takes {:.2f} ms a token, the best threshold on the draft's confidence ({}) {:.2f}, the best "
      "on a head that knows every acceptance probability ({}) {:.2f}. Confidence in a token is not its chance to be accepted: "
      "where both distributions are flat and alike, unlikely tokens are accepted too. Thresholds are simulated; no formula "
      "stands "
      "beside "
      "them.",
      fixed.name, fixed.latency_ms(), confident.name, confident.latency_ms(), exact.name, exact.latency_ms());
  return exhibit;
}

// --- Greedy answers: Lemma 2.1.

std::vector<ChainPair> greedy_pairs(const Study& study) {
  std::vector<ChainPair> pairs;
  for (uint64_t at = 0; at < kGreedyPairs; ++at) {
    pairs.push_back(ChainPair::random({.horizon = kHorizon, .hard = kHard}, study.pair_seed() << 20 | at));
  }
  return pairs;
}

Outcome greedy(const std::vector<ChainPair>& pairs, const Policy& policy) {
  Outcome outcome{.name = policy.name};
  for (const ChainPair& pair : pairs) {
    for (TokenId prompt = 0; prompt < pair.vocabulary(); ++prompt) {
      outcome.add(decode_greedily(pair, prompt, policy.length).passes);
    }
  }
  return outcome;
}

// Compares every answer with the lemma.
Outcome oracle(const std::vector<ChainPair>& pairs, Exhibit& exhibit, Mean& disagreeing) {
  Outcome outcome{.name = "oracle of Lemma 2.1"};
  int wrong = 0;
  for (const ChainPair& pair : pairs) {
    for (TokenId prompt = 0; prompt < pair.vocabulary(); ++prompt) {
      const std::vector<int> apart = disagreements(pair, prompt);
      const Passes passes = decode_greedily_by_oracle(pair, prompt, apart).passes, theory = oracle_passes(apart, kHorizon);
      wrong += passes.verified != theory.verified || passes.discarded != 0 || passes.drafted != theory.drafted ? 1 : 0;
      disagreeing.add(static_cast<double>(apart.size()));
      outcome.add(passes);
    }
  }
  if (wrong > 0) exhibit.broken.push_back(fmt::format("Lemma 2.1 fails in {} answers", wrong));
  return outcome;
}

Exhibit lemma(Study& study) {
  study.tell("Lemma 2.1: the oracle");
  Exhibit exhibit{
      .figure = {.title = "Greedy answers: the oracle against fixed lengths and thresholds",
                 .x = {"discard rate N_discarded / N", false, true},
                 .y = {"verification rate N_target / N", false, true},
                 .series = {}},
      .source =
          "2405.19715, Lemma 2.1: N_discarded = 0, N_target = |S| + 1, S where the likeliest tokens of the two differ "
          "(|S| where the last token is in S, whose correction ends the answer). Walked by walk().",
      .seen = ""};
  const std::vector<ChainPair> pairs = greedy_pairs(study);
  std::vector<Outcome> fixed, confident;
  for (const Policy& policy : fixed_lengths()) fixed.push_back(greedy(pairs, policy));
  for (const Policy& policy : thresholds(LengthPolicy::Stop::confidence, "confidence"))
    confident.push_back(greedy(pairs, policy));
  Mean disagreeing;
  std::vector<Outcome> best{oracle(pairs, exhibit, disagreeing)};
  for (const auto* outcomes : {&fixed, &confident, &best}) note_broken(exhibit, *outcomes);
  exhibit.figure.series = {in_plane("fixed K", 0, fixed), in_plane("threshold, draft's confidence", 2, confident),
                           in_plane("oracle", 1, best)};
  exhibit.tables.push_back({kHead, {fastest(fixed).row(), fastest(confident).row(), best[0].row()}});
  exhibit.seen = fmt::format(
      "{} answers of {} tokens, in which the two models disagree {:.2f} times in the mean: the oracle discards nothing and is "
      "{:.2f} "
      "times as fast as plain decoding, the best fixed length ({}) {:.2f} times, the best threshold on confidence ({}) {:.2f}. "
      "The rest "
      "of the way is knowing where the draft goes wrong, which no draft quite knows.",
      disagreeing.estimate().runs, kHorizon, disagreeing.estimate().mean, best[0].speed(), fastest(fixed).name,
      fastest(fixed).speed(), fastest(confident).name, fastest(confident).speed());
  return exhibit;
}

}  // namespace

Section length_section(Study& study) {
  const ChainPair pair = ChainPair::random({.horizon = kHorizon, .hard = kHard}, study.pair_seed());
  const Sampled all{sampled(study, pair, fixed_lengths()),
                    sampled(study, pair, thresholds(LengthPolicy::Stop::exact, "exact head")),
                    sampled(study, pair, thresholds(LengthPolicy::Stop::confidence, "confidence"))};
  return {
      .title = "4. Candidate length: SpecDec++'s cost, thresholds, and the oracle",
      .text =
          "Answers of 64 tokens; a quarter of the rows is hard (flat and unrelated distributions), the others are easy (a "
          "peaked target "
          "and a draft near it), so that how far to draft depends on where one is. A verification also gives a token of the "
          "target's own.",
      .exhibits = {plane(pair, all), latencies(all), lemma(study)}};
}

}  // namespace slipstream::theory
