#include "research/theory/rejection_rule.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "common/base/check.h"

namespace slipstream::theory {
namespace {

// min(1, wanted / q). For a token that q never drafts the result does not matter; it counts as
// accepted.
double ratio(double wanted, double q) { return wanted >= q ? 1.0 : wanted / q; }

double entropy(Shares p) {
  double nats = 0;
  for (const double share : p) nats -= share > 0 ? share * std::log(share) : 0;
  return nats;
}

using Acceptance = std::function<double(double p, double q)>;

std::vector<double> each(Shares p, Shares q, const Acceptance& acceptance) {
  std::vector<double> b;
  for (size_t x = 0; x < p.size(); ++x) b.push_back(acceptance(p[x], q[x]));
  return b;
}

}  // namespace

double rejection(const RejectionRule& rule, Shares q) {
  double accepted = 0;
  for (size_t x = 0; x < q.size(); ++x) accepted += rule.b[x] * q[x];
  return std::max(1 - accepted, 0.0);
}

std::vector<double> emitted(const RejectionRule& rule, Shares q) {
  const double rejected = rejection(rule, q);
  std::vector<double> distribution;
  for (size_t x = 0; x < q.size(); ++x) distribution.push_back(rule.b[x] * q[x] + rejected * rule.other[x]);
  return distribution;
}

double total_variation(Shares a, Shares b) {
  double apart = 0;
  for (size_t x = 0; x < a.size(); ++x) apart += std::abs(a[x] - b[x]);
  return apart / 2;
}

double bias(const RejectionRule& rule, Shares p, Shares q) { return total_variation(emitted(rule, q), p); }

RejectionRule with_best_other(std::vector<double> b, Shares p, Shares q) {
  std::vector<double> other;
  double sum = 0;
  for (size_t x = 0; x < p.size(); ++x) {
    other.push_back(std::max(p[x] - b[x] * q[x], 0.0));
    sum += other.back();
  }
  if (sum > 0) {
    for (double& share : other) share /= sum;
  } else {
    other.assign(p.begin(), p.end());  // rejection has probability 0
  }
  return {std::move(b), std::move(other)};
}

double least_bias(Shares b, Shares p, Shares q) {
  double over = 0;
  for (size_t x = 0; x < p.size(); ++x) over += std::max(b[x] * q[x] - p[x], 0.0);
  return over;
}

RejectionRule rule_of(const Bias& bias, Shares p, Shares q) {
  const std::vector<double> target(p.begin(), p.end());
  const double strength = bias.strength;
  switch (bias.kind) {
    case Bias::Kind::lenience:
      return with_best_other(each(p, q, [&](double a, double b) { return ratio(a / strength, b); }), p, q);
    case Bias::Kind::pareto:
      return with_best_other(each(p, q, [&](double a, double b) { return ratio(a + strength, b); }), p, q);
    case Bias::Kind::uniform:
      return {each(p, q, [&](double a, double b) { return ratio(a + strength, b); }), target};
    case Bias::Kind::typical: {
      const double bar = std::min(strength, bias.delta * std::exp(-entropy(p)));
      return {each(p, q, [&](double a, double) { return a > bar ? 1.0 : 0.0; }), target};
    }
  }
  CHECK(false, "no rule of kind {}", static_cast<int>(bias.kind));
  return {};
}

std::vector<NamedRule> unbiased_family(Shares p, Shares q) {
  double most = 1;  // largest p / q over tokens that q drafts
  for (size_t x = 0; x < p.size(); ++x) most = q[x] > 0 ? std::max(most, p[x] / q[x]) : most;
  const auto member = [&](const Acceptance& acceptance) { return with_best_other(each(p, q, acceptance), p, q); };
  return {
      {"speculative decoding, b = min(1, p/q)", member([](double a, double b) { return ratio(a, b); })},
      {"half of it, b = min(1, p/q) / 2", member([](double a, double b) { return ratio(a, b) / 2; })},
      {"its square", member([](double a, double b) { return ratio(a, b) * ratio(a, b); })},
      {"strict by 2, b = min(1, p/2q)", member([](double a, double b) { return ratio(a / 2, b); })},
      {"plain rejection sampling once, b = p/Cq, C = max p/q",
       member([&](double a, double b) { return b > 0 ? a / (most * b) : 1.0; })},
      {"sure drafts only, b = [q <= p]", member([](double a, double b) { return b <= a ? 1.0 : 0.0; })},
      {"never, b = 0", member([](double, double) { return 0.0; })},
  };
}

}  // namespace slipstream::theory
