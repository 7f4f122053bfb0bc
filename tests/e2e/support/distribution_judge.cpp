#include "tests/e2e/support/distribution_judge.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

namespace slipstream::e2e {
namespace {

constexpr size_t kGroupsMost = 8;

size_t groups(const ExactDistribution& distribution) { return std::min(distribution.candidates().size(), kGroupsMost); }

// The order of one conditional distribution.
struct Order {
  std::vector<size_t> at;     // [rank] index of a candidate
  std::vector<size_t> rank;   // [candidates]
  std::vector<size_t> group;  // [candidates] of about equal probability; the rank, where there is a group for each

  explicit Order(std::span<const double> distribution)
      : at(distribution.size()), rank(distribution.size()), group(distribution.size()) {
    std::iota(at.begin(), at.end(), size_t{0});
    std::ranges::stable_sort(at, [&](size_t a, size_t b) { return distribution[a] > distribution[b]; });
    double before = 0;
    for (size_t r = 0; r < at.size(); ++r) {
      rank[at[r]] = r;
      const auto of_mass = static_cast<size_t>((before + distribution[at[r]] / 2) * kGroupsMost);
      group[at[r]] = distribution.size() <= kGroupsMost ? r : std::min(kGroupsMost - 1, of_mass);
      before += distribution[at[r]];
    }
  }
};

// Both distributions go on from `before`.
struct Claim {
  const ExactDistribution &distribution, &model;

  // [rank] adds the distributions of a position, where `before` are the tokens of some positions
  // before it: their mean, weighed by mass.
  void add_ranks(Draw& before, size_t position, double mass, std::vector<double>& ranks) const {
    const auto order = model.after(before);
    if (before.size() == position) {
      const auto told = distribution.after(before);
      const Order by(order);
      for (size_t r = 0; r < ranks.size(); ++r) ranks[r] += mass * told[by.at[r]];
      return;
    }
    for (size_t i = 0; i < order.size(); ++i) {
      before.push_back(model.candidates()[i]);
      add_ranks(before, position, mass * order[i], ranks);
      before.pop_back();
    }
  }

  // Adds the joint distribution of all tokens behind `before`; cell: theirs so far.
  void add_cells(Draw& before, size_t cell, double mass, std::vector<double>& cells) const {
    const Order order(model.after(before));
    const auto told = distribution.after(before);
    for (size_t i = 0; i < told.size(); ++i) {
      const size_t inner = cell * groups(model) + order.group[i];
      if (before.size() + 1 == model.length()) {
        cells[inner] += mass * told[i];
        continue;
      }
      before.push_back(model.candidates()[i]);
      add_cells(before, inner, mass * told[i], cells);
      before.pop_back();
    }
  }
};

std::vector<double> mean_ranks(const ExactDistribution& distribution, const ExactDistribution& model, size_t position) {
  std::vector<double> ranks(model.candidates().size());
  Draw before;
  Claim{distribution, model}.add_ranks(before, position, 1, ranks);
  return ranks;
}

ChiSquare check_jointly(const std::vector<Draw>& draws, const Claim& claim, size_t together) {
  const size_t given = claim.model.length() - together;
  size_t size = 1;
  for (size_t i = 0; i < together; ++i) size *= groups(claim.model);
  std::vector<double> observed(size), expected(size);
  std::map<Draw, size_t> prefixes;
  for (const Draw& draw : draws) {
    const std::span tokens(draw);
    size_t cell = 0;
    for (size_t position = given; position < draw.size(); ++position) {
      const Order order(claim.model.after(tokens.first(position)));
      cell = cell * groups(claim.model) + order.group[claim.model.index(draw[position])];
    }
    observed[cell] += 1;
    ++prefixes[Draw(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(given))];
  }
  for (const auto& [prefix, count] : prefixes) {
    Draw before = prefix;
    claim.add_cells(before, 0, static_cast<double>(count), expected);
  }
  return statistics::chi_square(observed, expected);
}

// The joint distribution of the first tokens, the last one running fastest.
std::vector<double> distribution_of_first(const ExactDistribution& distribution, size_t first) {
  std::vector<double> joint{1};
  std::vector<Draw> paths(1);
  for (size_t position = 0; position < first; ++position) {
    std::vector<double> longer;
    std::vector<Draw> paths_longer;
    for (size_t at = 0; at < joint.size(); ++at) {
      const auto told = distribution.after(paths[at]);
      for (size_t i = 0; i < told.size(); ++i) {
        longer.push_back(joint[at] * told[i]);
        paths_longer.push_back(paths[at]);
        paths_longer.back().push_back(distribution.candidates()[i]);
      }
    }
    joint = std::move(longer);
    paths = std::move(paths_longer);
  }
  return joint;
}

}  // namespace

std::vector<double> Verdict::p_values() const {
  std::vector<double> values;
  for (const ChiSquare& test : positions) values.push_back(test.p_value);
  return values;
}

bool Verdict::exact() const {
  return std::ranges::min(p_values()) > kAlpha && joint.p_value > kAlpha && tokens.p_value > kAlpha;
}

ChiSquare judge_tokens(const std::vector<Draw>& draws, const ExactDistribution& distribution, size_t first) {
  std::vector<double> expected = distribution_of_first(distribution, first);
  for (double& cell : expected) cell *= static_cast<double>(draws.size());
  std::vector<double> observed(expected.size());
  for (const Draw& draw : draws) {
    size_t cell = 0;
    for (const TokenId token : std::span(draw).first(first))
      cell = cell * distribution.candidates().size() + distribution.index(token);
    observed[cell] += 1;
  }
  return statistics::chi_square(observed, expected);
}

Verdict judge(const std::vector<Draw>& draws, const ExactDistribution& distribution, const ExactDistribution& model,
              const Cells& cells) {
  Verdict verdict;
  for (size_t position = 0; position < model.length(); ++position) {
    std::vector<double> observed(model.candidates().size()), expected(observed.size());
    for (const Draw& draw : draws) {
      const auto before = std::span(draw).first(position);
      const Order order(model.after(before));
      const auto told = distribution.after(before);
      observed[order.rank[model.index(draw[position])]] += 1;
      for (size_t r = 0; r < expected.size(); ++r) expected[r] += told[order.at[r]];
    }
    verdict.positions.push_back(statistics::chi_square(observed, expected));
  }
  verdict.joint = check_jointly(draws, {distribution, model}, cells.ranks);
  verdict.tokens = judge_tokens(draws, distribution, cells.tokens);
  return verdict;
}

double power_in_ranks(size_t position, const ExactDistribution& distribution, const ExactDistribution& truth,
                      const ExactDistribution& model, size_t draws) {
  return statistics::power(mean_ranks(distribution, model, position), mean_ranks(truth, model, position),
                           static_cast<double>(draws), kAlpha);
}

double power_in_tokens(size_t first, const ExactDistribution& distribution, const ExactDistribution& truth, size_t draws) {
  return statistics::power(distribution_of_first(distribution, first), distribution_of_first(truth, first),
                           static_cast<double>(draws), kAlpha);
}

}  // namespace slipstream::e2e
