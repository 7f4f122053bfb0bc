// Answers each question of a rule in every possible way and knows the probability of each way.
// The distribution of the results is therefore exact.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "common/speculation/rejection/random_source.h"

namespace slipstream {

class EveryOutcome final : public RandomSource {
 public:
  // Calls `round` once for each way in which its questions can be answered; each call asks them
  // anew, and ends by itself. `outcome` gets the probability of the way.
  static void of(const std::function<void(RandomSource&)>& round, const std::function<void(double)>& outcome) {
    EveryOutcome random;
    do {
      random.at_ = 0;
      round(random);
      double probability = 1;
      for (const Question& question : random.questions_) probability *= question.probability[question.answer];
      outcome(probability);
    } while (random.next());
  }

  bool accept(double probability) override {
    if (probability <= 0 || probability >= 1) return probability >= 1;
    return ask([&](std::vector<double>& answers) { answers = {probability, 1 - probability}; }) == 0;
  }

  size_t pick(std::span<const double> weights) override {
    return ask([&](std::vector<double>& answers) { answers.assign(weights.begin(), weights.end()); });
  }

  TokenId draw(const TokenDistribution& distribution, std::span<const TokenId> without) override {
    const size_t at = ask([&](std::vector<double>& answers) {
      for (const uint64_t weight : distribution.weights) answers.push_back(static_cast<double>(weight));
      for (const TokenId token : without) {
        const auto place = std::ranges::find(distribution.ids, token);
        if (place != distribution.ids.end()) answers[static_cast<size_t>(place - distribution.ids.begin())] = 0;
      }
    });
    return distribution.ids[at];
  }

 private:
  struct Question {
    std::vector<double> probability;  // of each answer
    size_t answer = 0;
  };

  template <class Weights>
  size_t ask(Weights weights) {
    if (at_ == questions_.size()) {
      Question question;
      weights(question.probability);
      double sum = 0;
      for (const double weight : question.probability) sum += weight;
      for (double& weight : question.probability) weight /= sum;
      question.answer = possible(question, 0);
      questions_.push_back(std::move(question));
    }
    return questions_[at_++].answer;
  }
  static size_t possible(const Question& question, size_t from) {
    while (from < question.probability.size() && !(question.probability[from] > 0)) ++from;
    return from;
  }
  bool next() {
    questions_.resize(at_);
    while (!questions_.empty()) {
      Question& last = questions_.back();
      last.answer = possible(last, last.answer + 1);
      if (last.answer < last.probability.size()) return true;
      questions_.pop_back();
    }
    return false;
  }

  std::vector<Question> questions_;
  size_t at_ = 0;
};

}  // namespace slipstream
