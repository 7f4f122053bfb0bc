#include "tests/e2e/triple_judge.h"

#include <numeric>
#include <span>

namespace slipstream::e2e {
namespace {

constexpr int kGroups = 8;
constexpr size_t kCells = kGroups * kGroups * kGroups;

// The order of one conditional law.
struct Order {
  std::vector<size_t> token;  // [rank]
  std::vector<size_t> rank;   // [token]
  std::vector<int> group;     // [token]

  explicit Order(std::span<const double> law) : token(law.size()), rank(law.size()), group(law.size()) {
    std::iota(token.begin(), token.end(), size_t{0});
    std::ranges::stable_sort(token, [&](size_t a, size_t b) { return law[a] > law[b]; });
    double before = 0;
    for (size_t r = 0; r < token.size(); ++r) {
      rank[token[r]] = r;
      group[token[r]] = std::min(kGroups - 1, static_cast<int>((before + law[token[r]] / 2) * kGroups));
      before += law[token[r]];
    }
  }
};

size_t cell(int a, int b, int c) { return static_cast<size_t>((a * kGroups + b) * kGroups + c); }
size_t at(TokenId token) { return static_cast<size_t>(token); }

std::vector<double> joint_law(const ExactLaw& law, const ExactLaw& model) {
  std::vector<double> cells(kCells);
  const int vocabulary = law.vocabulary();
  const Order first(model.first());
  for (TokenId a = 0; a < vocabulary; ++a) {
    const Order second(model.second(a));
    for (TokenId b = 0; b < vocabulary; ++b) {
      const Order third(model.third(a, b));
      const double mass = law.first()[at(a)] * law.second(a)[at(b)];
      for (TokenId c = 0; c < vocabulary; ++c) {
        cells[cell(first.group[at(a)], second.group[at(b)], third.group[at(c)])] += mass * law.third(a, b)[at(c)];
      }
    }
  }
  return cells;
}

// [rank] the mean of the conditional laws of that position over what may stand before.
std::vector<double> mean_ranks(const ExactLaw& law, const ExactLaw& model, int position) {
  std::vector<double> ranks(at(law.vocabulary()));
  const auto add = [&](double mass, std::span<const double> told, std::span<const double> order) {
    const Order by(order);
    for (size_t r = 0; r < ranks.size(); ++r) ranks[r] += mass * told[by.token[r]];
  };
  if (position == 0) add(1, law.first(), model.first());
  for (TokenId a = 0; position > 0 && a < law.vocabulary(); ++a) {
    const double before = model.first()[at(a)];
    if (position == 1) add(before, law.second(a), model.second(a));
    for (TokenId b = 0; position == 2 && b < law.vocabulary(); ++b) {
      add(before * model.second(a)[at(b)], law.third(a, b), model.third(a, b));
    }
  }
  return ranks;
}

}  // namespace

double power_of_judge(const ExactLaw& model, int position, double planted, size_t draws) {
  ExactLaw error = model;
  error.bias(position, planted);
  return statistics::power(mean_ranks(model, model, position), mean_ranks(error, model, position), static_cast<double>(draws),
                           kAlpha);
}

Verdict judge(const std::vector<Triple>& triples, const ExactLaw& law, const ExactLaw& model) {
  const auto vocabulary = at(law.vocabulary());
  std::array<std::vector<double>, 3> observed, expected;
  observed.fill(std::vector<double>(vocabulary));
  expected.fill(std::vector<double>(vocabulary));
  std::vector<double> joint(kCells);
  for (const auto& [a, b, c] : triples) {
    const std::array<Order, 3> orders{Order(model.first()), Order(model.second(a)), Order(model.third(a, b))};
    const std::array<std::span<const double>, 3> laws{law.first(), law.second(a), law.third(a, b)};
    const Triple drawn{a, b, c};
    for (size_t position = 0; position < 3; ++position) {
      observed[position][orders[position].rank[at(drawn[position])]] += 1;
      for (size_t r = 0; r < vocabulary; ++r) expected[position][r] += laws[position][orders[position].token[r]];
    }
    joint[cell(orders[0].group[at(a)], orders[1].group[at(b)], orders[2].group[at(c)])] += 1;
  }
  std::vector<double> joint_expected = joint_law(law, model);
  for (double& mass : joint_expected) mass *= static_cast<double>(triples.size());
  Verdict verdict;
  for (size_t position = 0; position < 3; ++position)
    verdict.positions[position] = statistics::chi_square(observed[position], expected[position]);
  verdict.joint = statistics::chi_square(joint, joint_expected);
  return verdict;
}

}  // namespace slipstream::e2e
