// The race between the tokens of a row: highest key (double)s_v + gumbel(seed, choice, position, v) first, lowest id on ties
// (choose.h). Tokens that cannot place are left out by bounds that are proven, so those who place are the plain loop's. Private
// to common/sampling.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "common/base/ids.h"
#include "common/sampling/choose.h"

namespace slipstream {

struct Entrant {
  double key = -std::numeric_limits<double>::infinity();
  TokenId token = -1;
  bool before(const Entrant& other) const { return key > other.key || (key == other.key && token < other.token); }
};

// The first kPlaces, in order.
template <int kPlaces>
class Podium {
 public:
  // No key below it places.
  double bar() const { return places_.back().key; }
  void offer(const Entrant& entrant) {  // whose key is finite: any is before an empty place
    if (!entrant.before(places_.back())) return;
    size_t at = kPlaces - 1;
    for (; at > 0 && entrant.before(places_[at - 1]); --at) places_[at] = places_[at - 1];
    places_[at] = entrant;
  }
  std::span<const Entrant> places() const {
    const auto empty = std::ranges::find(places_, -1, &Entrant::token);
    return std::span(places_).first(static_cast<size_t>(empty - places_.begin()));
  }

 private:
  std::array<Entrant, kPlaces> places_;
};

// The logits themselves as keys. highest: [blocks of 64] of each (row_scan.h).
template <int kPlaces>
void enter_logits(std::span<const float> logits, std::span<const float> highest, Podium<kPlaces>& podium) {
  for (size_t block = 0; block < highest.size(); ++block) {
    if (static_cast<double>(highest[block]) < podium.bar()) continue;
    const size_t end = std::min(logits.size(), (block + 1) * kScanBlock);
    for (size_t token = block * kScanBlock; token < end; ++token) {
      const auto key = static_cast<double>(logits[token]);
      if (key >= podium.bar() && std::isfinite(key)) podium.offer({key, static_cast<TokenId>(token)});
    }
  }
}

inline NoiseKey coupled_key(const RowSampling& row) { return {row.seed, row.choice, row.position, NoisePurpose::coupled}; }

template <int kPlaces>
class Race {
 public:
  explicit Race(const NoiseKey& key) : key_(key) {}

  // level: noise.h. The bound rounds like the key and is monotone, so a token below the bar cannot reach it.
  void enter(TokenId token, float scaled, uint8_t level) {
    if (static_cast<double>(scaled) + level * kNoiseLevelNats < podium_.bar()) return;
    run(token, scaled, noise_word(key_, static_cast<uint32_t>(token), 0));
  }
  void enter(TokenId token, float scaled) {
    if (static_cast<double>(scaled) + kNoiseLevelMax * kNoiseLevelNats < podium_.bar()) return;
    const uint32_t hi = noise_word(key_, static_cast<uint32_t>(token), 0);
    if (static_cast<double>(scaled) + noise_ceiling(hi) < podium_.bar()) return;
    run(token, scaled, hi);
  }
  double bar() const { return podium_.bar(); }
  std::span<const Entrant> places() const { return podium_.places(); }

 private:
  void run(TokenId token, float scaled, uint32_t hi) {
    podium_.offer({static_cast<double>(scaled) + gumbel_of(hi, noise_word(key_, static_cast<uint32_t>(token), 1)), token});
  }

  NoiseKey key_;
  Podium<kPlaces> podium_;
};

// All tokens of the row run. False: its logits are not usable.
template <int kPlaces>
bool run_all(std::span<const float> logits, float scale, const NoiseKey& key, ChooseScratch& scratch, Race<kPlaces>& race) {
  const uint8_t* levels = scratch.noise.make(key, static_cast<int>(logits.size()));
  const RowScan scan = scan_row(logits, scale, levels, scratch.bounds);
  if (!scan.finite) return false;
  const auto visit = [&](size_t block) {
    const size_t end = std::min(logits.size(), (block + 1) * kScanBlock);
    for (size_t token = block * kScanBlock; token < end; ++token) {
      if (logits[token] > -std::numeric_limits<float>::infinity()) {
        race.enter(static_cast<TokenId>(token), logits[token] * scale, levels[token]);
      }
    }
  };
  const auto first = static_cast<size_t>(std::ranges::max_element(scratch.bounds) - scratch.bounds.begin());
  visit(first);
  // Bounds are floats with two roundings; those of a token that places lie between the bar and the highest, where they err by
  // less than 2^-22 (|bound| + 128).
  const double highest = std::abs(static_cast<double>(scratch.bounds[first]));
  for (size_t block = 0; block < scratch.bounds.size(); ++block) {
    const double slack = (std::max(std::abs(race.bar()), highest) + 128.0) * 0x1p-22;
    if (block != first && !(scratch.bounds[block] < race.bar() - slack)) visit(block);
  }
  return true;
}

// Below this share of the vocabulary the noise of the kept tokens alone is cheaper than everybody's.
inline constexpr int kSparseShare = 16;

// Those run that the chain kept.
template <int kPlaces>
void run_kept(const Kept& kept, const NoiseKey& key, int vocabulary, ChooseScratch& scratch, Race<kPlaces>& race) {
  const auto first = static_cast<size_t>(std::ranges::max_element(kept.scaled) - kept.scaled.begin());
  const bool many = kept.ids.size() > static_cast<size_t>(vocabulary / kSparseShare);
  const uint8_t* levels = many ? scratch.noise.make(key, vocabulary) : scratch.noise.find(key, vocabulary);
  race.enter(kept.ids[first], kept.scaled[first]);
  for (size_t i = 0; i < kept.ids.size(); ++i) {
    if (i == first) continue;
    if (levels != nullptr) {
      race.enter(kept.ids[i], kept.scaled[i], levels[kept.ids[i]]);
    } else {
      race.enter(kept.ids[i], kept.scaled[i]);
    }
  }
}

// A row above temperature 0. False: its logits are not usable.
template <int kPlaces>
bool run_row(std::span<const float> logits, const RowSampling& row, ChooseScratch& scratch, Race<kPlaces>& race) {
  const NoiseKey key = coupled_key(row);
  if (!filters(row.params)) return run_all(logits, scale_of(row.params.temperature), key, scratch, race);
  const auto kept = process(logits, row.params, scratch.chain);
  if (kept) run_kept(*kept, key, static_cast<int>(logits.size()), scratch, race);
  return kept.has_value();
}

}  // namespace slipstream
