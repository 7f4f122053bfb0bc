#include "common/sampling/choose.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace slipstream {
namespace {

NoiseKey key_of(const RowSampling& row) { return {row.seed, row.choice, row.position, NoisePurpose::coupled}; }

// Below this share of the vocabulary the noise of the kept tokens alone is cheaper than everybody's.
constexpr int kSparseShare = 16;

// The highest key so far. Tokens that cannot win are left out by bounds that are proven, so the winner is the plain loop's.
class Race {
 public:
  explicit Race(const NoiseKey& key) : key_(key) {}

  // level: noise.h. The bound rounds like the key and is monotone, so a token below the best key cannot reach it.
  void enter(TokenId token, float scaled, uint8_t level) {
    if (static_cast<double>(scaled) + level * kNoiseLevelNats < best_) return;
    run(token, scaled, noise_word(key_, static_cast<uint32_t>(token), 0));
  }
  void enter(TokenId token, float scaled) {
    if (static_cast<double>(scaled) + kNoiseLevelMax * kNoiseLevelNats < best_) return;
    const uint32_t hi = noise_word(key_, static_cast<uint32_t>(token), 0);
    if (static_cast<double>(scaled) + noise_ceiling(hi) < best_) return;
    run(token, scaled, hi);
  }
  double best() const { return best_; }
  TokenId winner() const { return winner_; }

 private:
  void run(TokenId token, float scaled, uint32_t hi) {
    const double key = static_cast<double>(scaled) + gumbel_of(hi, noise_word(key_, static_cast<uint32_t>(token), 1));
    if (key > best_ || (key == best_ && token < winner_)) {
      best_ = key;
      winner_ = token;
    }
  }

  NoiseKey key_;
  double best_ = -std::numeric_limits<double>::infinity();
  TokenId winner_ = -1;
};

TokenId choose_any(std::span<const float> logits, const RowSampling& row, ChooseScratch& scratch) {
  const float scale = scale_of(row.params.temperature);
  const uint8_t* levels = scratch.noise.make(key_of(row), static_cast<int>(logits.size()));
  const RowScan scan = scan_row(logits, scale, levels, scratch.bounds);
  if (!scan.finite) return -1;
  Race race(key_of(row));
  const auto visit = [&](size_t block) {
    const size_t end = std::min(logits.size(), (block + 1) * kScanBlock);
    for (size_t token = block * kScanBlock; token < end; ++token) {
      race.enter(static_cast<TokenId>(token), logits[token] * scale, levels[token]);
    }
  };
  visit(static_cast<size_t>(std::ranges::max_element(scratch.bounds) - scratch.bounds.begin()));
  // Bounds are floats with two roundings. A token that could win has a key in [best, best + 41], since all noise lies in
  // [-4, 37]; there they err by less than 2^-22 (|best| + 128).
  const double slack = (std::abs(race.best()) + 128.0) * 0x1p-22;
  for (size_t block = 0; block < scratch.bounds.size(); ++block) {
    if (scratch.bounds[block] >= race.best() - slack) visit(block);
  }
  return race.winner();
}

TokenId choose_kept(const Kept& kept, const RowSampling& row, int vocabulary, ChooseScratch& scratch) {
  Race race(key_of(row));
  const auto first = static_cast<size_t>(std::ranges::max_element(kept.scaled) - kept.scaled.begin());
  race.enter(kept.ids[first], kept.scaled[first]);
  const bool many = kept.ids.size() > static_cast<size_t>(vocabulary / kSparseShare);
  const uint8_t* levels = many ? scratch.noise.make(key_of(row), vocabulary) : scratch.noise.find(key_of(row), vocabulary);
  for (size_t i = 0; i < kept.ids.size(); ++i) {
    if (levels != nullptr) {
      race.enter(kept.ids[i], kept.scaled[i], levels[kept.ids[i]]);
    } else {
      race.enter(kept.ids[i], kept.scaled[i]);
    }
  }
  return race.winner();
}

}  // namespace

TokenId choose(std::span<const float> logits, const RowSampling& row, ChooseScratch& scratch) {
  if (row.params.temperature == 0) return argmax(logits, scratch.chain);
  if (!filters(row.params)) return choose_any(logits, row, scratch);
  const auto kept = process(logits, row.params, scratch.chain);
  return kept ? choose_kept(*kept, row, static_cast<int>(logits.size()), scratch) : -1;
}

void prepare(const RowSampling& row, int vocabulary, ChooseScratch& scratch) {
  if (row.params.temperature != 0) scratch.noise.make(key_of(row), vocabulary);
}

}  // namespace slipstream
