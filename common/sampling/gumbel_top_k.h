// Gumbel top-k: finds the k tokens of a row with the highest keys
//
//   key_v = (double)s_v + gumbel(seed, choice, position, v)
//
// in falling order, the lowest id first on ties. s_v is the scaled logit of chain.h, gumbel() the
// noise of kernels/exact/noise.h. The first of them is the sampled token (Gumbel-max); all k are a
// sample without replacement (Kool et al., 1903.06059).
//
// Noise costs far more than a comparison. Upper bounds of a key therefore skip whole blocks and
// single tokens that cannot be among the k. The bounds are proven, so the result equals that of a
// plain loop over all tokens. Private to common/sampling.
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

// The k best of all candidates that were added, in order.
template <int k>
class TopK {
 public:
  // The k-th best key so far, -inf with fewer than k candidates. A candidate with a lower key is
  // not among the k.
  double threshold() const { return top_.back().key; }
  // REQUIRES (unchecked): the key is finite. Every candidate then comes before an empty entry.
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

// A row of logits, of all tokens or of some.
struct LogitRow {
  std::span<const float> logits;
  std::span<const TokenId> ids;  // [logits] the tokens that they are of (rank.h); empty: token i has logit i
  int vocabulary = 0;            // tokens that have noise

  TokenId token(size_t at) const { return ids.empty() ? static_cast<TokenId>(at) : ids[at]; }
};
inline LogitRow whole_row(std::span<const float> logits) { return {logits, {}, static_cast<int>(logits.size())}; }

// Calls visit(place) for each logit of one block of a row, in order.
template <class Visit>
void each_place(std::span<const float> logits, size_t block, const Visit& visit) {
  constexpr auto kBlock = static_cast<size_t>(kScanBlock);
  const size_t end = std::min(logits.size(), (block + 1) * kBlock);
  for (size_t place = block * kBlock; place < end; ++place) visit(place);
}

// Adds all tokens of a row with their logits as keys: top-k without noise. block_max: [blocks] the
// bounds that scan_row() gives without levels (chain.h).
template <int k>
void add_logits(const LogitRow& row, std::span<const float> block_max, TopK<k>& top) {
  for (size_t block = 0; block < block_max.size(); ++block) {
    if (static_cast<double>(block_max[block]) < top.threshold()) continue;
    each_place(row.logits, block, [&](size_t place) {
      const auto key = static_cast<double>(row.logits[place]);
      if (key >= top.threshold() && std::isfinite(key)) top.add({key, row.token(place)});
    });
  }
}

template <int k>
class GumbelTopK {
 public:
  explicit GumbelTopK(const NoiseKey& key) : key_(key) {}

  // Adds a token whose noise level (kernels/exact/noise.h) is known. The bound is rounded like the
  // key, and rounding is monotone, so a token whose bound is below the threshold cannot reach it.
  void add(TokenId token, float scaled, uint8_t level) {
    if (static_cast<double>(scaled) + level * kNoiseLevelNats < threshold()) return;
    add_key(token, scaled, noise_word(key_, static_cast<uint32_t>(token), 0));
  }
  // Adds a token whose noise is not known: first by the bound of all noise, then by that of its own
  // high word.
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

// The noise levels of a row's tokens, [logits rounded up to kScanBlock].
inline const uint8_t* levels_of(const LogitRow& row, const NoiseKey& key, SamplingScratch& scratch) {
  const uint8_t* all = scratch.noise.make(*scratch.chain.kernels, key, row.vocabulary);
  if (row.ids.empty()) return all;
  scratch.levels.resize(static_cast<size_t>(scan_blocks(std::ssize(row.ids)) * kScanBlock));
  for (size_t place = 0; place < row.ids.size(); ++place) scratch.levels[place] = all[row.ids[place]];
  return scratch.levels.data();
}

// Adds all tokens of a row that no filter restricts. False: the row is refused (chain.h).
//
//   1. bounds[b] := max over block b of s_v + level_v * kNoiseLevelNats    one vector pass over the row
//   2. add the block with the highest bound, which likely holds the winner and sets the threshold
//   3. add every other block whose bound reaches the threshold             few of them do
template <int k>
bool add_all(const LogitRow& row, float scale, const NoiseKey& key, SamplingScratch& scratch, GumbelTopK<k>& top) {
  const uint8_t* levels = levels_of(row, key, scratch);
  if (!scan_row(*scratch.chain.kernels, row.logits, scale, levels, scratch.bounds).finite) return false;
  const auto add_block = [&](size_t block) {
    each_place(row.logits, block, [&](size_t place) {
      const float logit = row.logits[place];
      if (logit > -std::numeric_limits<float>::infinity()) top.add(row.token(place), logit * scale, levels[place]);
    });
  };
  const auto first = static_cast<size_t>(std::ranges::max_element(scratch.bounds) - scratch.bounds.begin());
  add_block(first);
  // The scan computes bounds in float with two roundings, so they may come out too low. The bound
  // of a token among the top k lies between the threshold and the highest bound; there it is wrong
  // by less than 2^-22 (|bound| + 128).
  const double highest = std::abs(static_cast<double>(scratch.bounds[first]));
  for (size_t block = 0; block < scratch.bounds.size(); ++block) {
    const double slack = (std::max(std::abs(top.threshold()), highest) + 128.0) * 0x1p-22;
    if (block != first && !(scratch.bounds[block] < top.threshold() - slack)) add_block(block);
  }
  return true;
}

// With at most 1 / kSparseShare of the vocabulary kept, computing the noise of the kept tokens one
// by one is cheaper than the vectorised noise of all tokens.
inline constexpr int kSparseShare = 16;

// Adds the tokens that the chain kept. It starts with the one of the highest logit, so that the
// threshold is high when the others come. Levels that the cache has already are used in any case.
template <int k>
void add_kept(const Kept& kept, const LogitRow& row, const NoiseKey& key, SamplingScratch& scratch, GumbelTopK<k>& top) {
  const auto token = [&](size_t i) { return row.token(static_cast<size_t>(kept.ids[i])); };
  const auto first = static_cast<size_t>(std::ranges::max_element(kept.scaled) - kept.scaled.begin());
  const bool many = kept.ids.size() > static_cast<size_t>(row.vocabulary / kSparseShare);
  const uint8_t* levels =
      many ? scratch.noise.make(*scratch.chain.kernels, key, row.vocabulary) : scratch.noise.find(key, row.vocabulary);
  top.add(token(first), kept.scaled[first]);
  for (size_t i = 0; i < kept.ids.size(); ++i) {
    if (i == first) continue;
    if (levels != nullptr) {
      top.add(token(i), kept.scaled[i], levels[token(i)]);
    } else {
      top.add(token(i), kept.scaled[i]);
    }
  }
}

inline NoiseKey coupled_key(const RowSampling& row) { return {row.seed, row.choice, row.position, NoisePurpose::coupled}; }

// Adds the tokens of a row that its chain keeps. False: the row is refused (chain.h). REQUIRES
// (unchecked): temperature > 0.
template <int k>
bool add_row(const LogitRow& row, const RowSampling& sampling, SamplingScratch& scratch, GumbelTopK<k>& top) {
  const NoiseKey key = coupled_key(sampling);
  if (!filters(sampling.params)) return add_all(row, scale_of(sampling.params.temperature), key, scratch, top);
  const auto kept = process(row.logits, sampling.params, scratch.chain);
  if (kept) add_kept(*kept, row, key, scratch, top);
  return kept.has_value();
}

}  // namespace slipstream
