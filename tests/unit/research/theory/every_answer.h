// What an answer is in the mean, by enumeration: every draft, coin and residual token of every
// round.
#pragma once

#include <functional>
#include <map>

#include "research/theory/decoding.h"
#include "tests/distributions/every_outcome.h"

namespace slipstream::theory {

inline constexpr double kExact = 1e-12;

// One dice for all rounds, which answers in every way.
class EveryAnswer final : public RandomPair {
 public:
  explicit EveryAnswer(RandomSource& random) : random_(random) {}
  void begin_round() override {}
  RandomSource& drafts() override { return random_; }
  RandomSource& accept() override { return random_; }

 private:
  RandomSource& random_;
};

template <class T>
void every_answer(const std::function<T(RandomPair&)>& decode, const std::function<void(const T&, double)>& outcome) {
  T answer;
  EveryOutcome::of(
      [&](RandomSource& source) {
        EveryAnswer random(source);
        answer = decode(random);
      },
      [&](double probability) { outcome(answer, probability); });
}

// The largest difference of a distribution of whole answers from the target's.
inline double bias_of_answers(const ChainPair& pair, std::map<std::vector<TokenId>, double> distribution) {
  std::vector<TokenId> answer;
  const std::function<void(TokenId, double)> subtract = [&](TokenId before, double mass) {
    if (static_cast<int>(answer.size()) == pair.horizon()) {
      distribution[answer] -= mass;
      return;
    }
    const Shares p = pair.p(static_cast<int>(answer.size()) + 1, before);
    for (TokenId token = 0; token < pair.vocabulary(); ++token) {
      answer.push_back(token);
      subtract(token, mass * p[static_cast<size_t>(token)]);
      answer.pop_back();
    }
  };
  for (TokenId prompt = 0; prompt < pair.vocabulary(); ++prompt) subtract(prompt, 1.0 / pair.vocabulary());
  double most = 0;
  for (const auto& [tokens, apart] : distribution) most = std::max(most, std::abs(apart));
  return most;
}

inline OwnedDistribution distribution_of(const std::vector<uint64_t>& weights) {
  OwnedDistribution distribution;
  for (size_t x = 0; x < weights.size(); ++x) {
    if (weights[x] > 0) distribution.add(static_cast<TokenId>(x), weights[x]);
  }
  return distribution;
}

}  // namespace slipstream::theory
