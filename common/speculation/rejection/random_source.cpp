#include "common/speculation/rejection/random_source.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/limits.h"

namespace slipstream {
namespace {

// The 52 bits x of noise_uniform, where u = (x + 1/2) / 2^52.
uint64_t bits(uint32_t high, uint32_t low) { return uint64_t{high} << 20 | low >> 12; }

}  // namespace

CounterRandom::CounterRandom(const Key& key, NoisePurpose purpose)
    : key_(key), coins_(purpose), draws_(purpose == NoisePurpose::accept ? NoisePurpose::residual : purpose) {
  CHECK(purpose == NoisePurpose::accept || purpose == NoisePurpose::draft, "coupled noise is asked for by choose()");
}

// Each question takes the next counter, so no two questions of a round share a word. The epoch is
// part of the counter: a replayed round gets other numbers.
CounterRandom::Words CounterRandom::next(NoisePurpose purpose) {
  const uint32_t stream = key_.epoch * kChoicesMax + key_.choice;
  const PhiloxWords words = philox({{asked_++, key_.round, stream, static_cast<uint32_t>(purpose) << 1}}, key_.seed);
  return {words.word[0], words.word[1]};
}

bool CounterRandom::accept(double probability) {
  const Words words = next(coins_);
  return noise_uniform(words.high, words.low) < probability;
}

size_t CounterRandom::pick(std::span<const double> weights) {
  const Words words = next(draws_);
  double total = 0;
  for (const double weight : weights) total += weight;
  const double mark = noise_uniform(words.high, words.low) * total;
  double sum = 0;
  size_t last = weights.size();  // the last index with a positive weight: rounding may carry the mark past the sum
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    last = i;
    if ((sum += weights[i]) > mark) break;
  }
  CHECK(last < weights.size(), "nothing can be picked: no weight of {} is positive", weights.size());
  return last;
}

// Integers throughout: mark = floor(u * total) is below the total, so the loop always finds a
// token.
TokenId CounterRandom::draw(const TokenDistribution& distribution, std::span<const TokenId> without) {
  const Words words = next(draws_);
  uint64_t total = distribution.total;
  for (const TokenId token : without) total -= distribution.weight(token);
  CHECK(total > 0, "nothing can be sampled: none of {} tokens is left", distribution.ids.size());
  const auto mark = static_cast<uint64_t>(static_cast<unsigned __int128>(bits(words.high, words.low)) * total >> 52);
  return distribution.at(mark, without);
}

}  // namespace slipstream
