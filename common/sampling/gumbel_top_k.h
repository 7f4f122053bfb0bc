// Gumbel top-k of a row: the k tokens with the highest key (double)s_v + gumbel(seed, choice,
// position, v), lowest id first on ties (sample_token.h). Proven bounds leave out tokens that
// cannot be among them, so the result is that of a plain loop over all tokens. Private to
// common/sampling.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "common/base/ids.h"
#include "common/sampling/sample_token.h"

namespace slipstream {

struct Candidate {
  double key = -std::numeric_limits<double>::infinity();
  TokenId token = -1;
  bool before(const Candidate& other) const { return key > other.key || (key == other.key && token < other.token); }
};

// The first k of all candidates that were added, in order.
template <int k>
class TopK {
 public:
  // A candidate whose key is below it is not among them.
  double threshold() const { return top_.back().key; }
  // REQUIRES: the key is finite. So every candidate is before an empty place.
  void add(const Candidate& candidate) {
    if (!candidate.before(top_.back())) return;
    size_t at = k - 1;
    for (; at > 0 && candidate.before(top_[at - 1]); --at) top_[at] = top_[at - 1];
    top_[at] = candidate;
  }
  std::span<const Candidate> candidates() const {  // [at most k]
    const auto empty = std::ranges::find(top_, -1, &Candidate::token);
    return std::span(top_).first(static_cast<size_t>(empty - top_.begin()));
  }

 private:
  std::array<Candidate, k> top_;
};

// visit(token) for each token of a block of a row, ids rising.
template <class Visit>
void each_token(std::span<const float> logits, size_t block, const Visit& visit) {
  constexpr auto kBlock = static_cast<size_t>(kScanBlock);
  const size_t end = std::min(logits.size(), (block + 1) * kBlock);
  for (size_t token = block * kBlock; token < end; ++token) visit(token);
}

// Adds all tokens, with their logits as keys. block_max: [blocks] the bounds of scan_row() without
// levels (chain.h).
template <int k>
void add_logits(std::span<const float> logits, std::span<const float> block_max, TopK<k>& top) {
  for (size_t block = 0; block < block_max.size(); ++block) {
    if (static_cast<double>(block_max[block]) < top.threshold()) continue;
    each_token(logits, block, [&](size_t token) {
      const auto key = static_cast<double>(logits[token]);
      if (key >= top.threshold() && std::isfinite(key)) top.add({key, static_cast<TokenId>(token)});
    });
  }
}

template <int k>
class GumbelTopK {
 public:
  explicit GumbelTopK(const NoiseKey& key) : key_(key) {}

  // level: the token's noise level (noise.h). The bound rounds like the key and is monotone, so a
  // token whose bound is below the threshold cannot reach it.
  void add(TokenId token, float scaled, uint8_t level) {
    if (static_cast<double>(scaled) + level * kNoiseLevelNats < threshold()) return;
    add_key(token, scaled, noise_word(key_, static_cast<uint32_t>(token), 0));
  }
  void add(TokenId token, float scaled) {
    if (static_cast<double>(scaled) + kNoiseLevelMax * kNoiseLevelNats < threshold()) return;
    const uint32_t hi = noise_word(key_, static_cast<uint32_t>(token), 0);
    if (static_cast<double>(scaled) + noise_ceiling(hi) < threshold()) return;
    add_key(token, scaled, hi);
  }
  double threshold() const { return top_.threshold(); }
  std::span<const Candidate> candidates() const { return top_.candidates(); }

 private:
  void add_key(TokenId token, float scaled, uint32_t hi) {
    top_.add({static_cast<double>(scaled) + gumbel_of(hi, noise_word(key_, static_cast<uint32_t>(token), 1)), token});
  }

  NoiseKey key_;
  TopK<k> top_;
};

// Adds all tokens of a row. False: its logits are not usable.
template <int k>
bool add_all(std::span<const float> logits, float scale, const NoiseKey& key, SamplingScratch& scratch, GumbelTopK<k>& top) {
  const VocabularyKernels& kernels = *scratch.chain.kernels;
  const uint8_t* levels = scratch.noise.make(kernels, key, static_cast<int>(logits.size()));
  if (!scan_row(kernels, logits, scale, levels, scratch.bounds).finite) return false;
  const auto add_block = [&](size_t block) {
    each_token(logits, block, [&](size_t token) {
      if (logits[token] > -std::numeric_limits<float>::infinity()) {
        top.add(static_cast<TokenId>(token), logits[token] * scale, levels[token]);
      }
    });
  };
  const auto first = static_cast<size_t>(std::ranges::max_element(scratch.bounds) - scratch.bounds.begin());
  add_block(first);
  // Bounds are floats with two roundings. The bound of a token among the top k lies between the
  // threshold and the highest bound, where it errs by less than 2^-22 (|bound| + 128).
  const double highest = std::abs(static_cast<double>(scratch.bounds[first]));
  for (size_t block = 0; block < scratch.bounds.size(); ++block) {
    const double slack = (std::max(std::abs(top.threshold()), highest) + 128.0) * 0x1p-22;
    if (block != first && !(scratch.bounds[block] < top.threshold() - slack)) add_block(block);
  }
  return true;
}

// Below this share of the vocabulary the noise of the kept tokens alone is cheaper than that of all
// tokens.
inline constexpr int kSparseShare = 16;

// Adds the tokens that the chain kept.
template <int k>
void add_kept(const Kept& kept, const NoiseKey& key, int vocabulary, SamplingScratch& scratch, GumbelTopK<k>& top) {
  const auto first = static_cast<size_t>(std::ranges::max_element(kept.scaled) - kept.scaled.begin());
  const bool many = kept.ids.size() > static_cast<size_t>(vocabulary / kSparseShare);
  const uint8_t* levels =
      many ? scratch.noise.make(*scratch.chain.kernels, key, vocabulary) : scratch.noise.find(key, vocabulary);
  top.add(kept.ids[first], kept.scaled[first]);
  for (size_t i = 0; i < kept.ids.size(); ++i) {
    if (i == first) continue;
    if (levels != nullptr) {
      top.add(kept.ids[i], kept.scaled[i], levels[kept.ids[i]]);
    } else {
      top.add(kept.ids[i], kept.scaled[i]);
    }
  }
}

inline NoiseKey coupled_key(const RowSampling& row) { return {row.seed, row.choice, row.position, NoisePurpose::coupled}; }

// Adds the tokens of a row above temperature 0 that its chain keeps. False: its logits are not
// usable.
template <int k>
bool add_row(std::span<const float> logits, const RowSampling& row, SamplingScratch& scratch, GumbelTopK<k>& top) {
  const NoiseKey key = coupled_key(row);
  if (!filters(row.params)) return add_all(logits, scale_of(row.params.temperature), key, scratch, top);
  const auto kept = process(logits, row.params, scratch.chain);
  if (kept) add_kept(*kept, key, static_cast<int>(logits.size()), scratch, top);
  return kept.has_value();
}

}  // namespace slipstream
