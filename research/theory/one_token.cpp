#include "research/theory/one_token.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace slipstream::theory {
namespace {

double sum(Shares shares) { return std::accumulate(shares.begin(), shares.end(), 0.0); }

}  // namespace

double rejection(Shares p, Shares q) { return batch_rejection(p, q, 1); }

std::vector<double> unaccepted(Shares p, Shares q, int drafts) {
  // Recursion of the header: each draft takes its share q of the remaining mass, at most what is
  // left of the token.
  std::vector<double> left(p.begin(), p.end());
  for (int draft = 0; draft < drafts; ++draft) {
    const double mass = sum(left);
    for (size_t x = 0; x < left.size(); ++x) left[x] = std::max(left[x] - mass * q[x], 0.0);
  }
  return left;
}

double batch_rejection(Shares p, Shares q, int drafts) { return sum(unaccepted(p, q, drafts)); }

double endless_batch_rejection(Shares p, Shares q) {
  double outside = 0;
  for (size_t x = 0; x < p.size(); ++x) outside += q[x] > 0 ? 0 : p[x];
  return outside;
}

double uniform_batch_improvement(double ratio, int drafts) {
  const double apart = 1 - 1 / ratio;
  return apart - std::pow(apart, drafts);
}

double bernoulli_batch_improvement(double u, double v, int drafts) {
  return std::abs(u - v) * (1 - std::pow(u > v ? 1 - v : v, drafts - 1));
}

}  // namespace slipstream::theory
