// The softmax of attention over a bf16 cache: scores [block][query][32 keys] become weights.
// Private to the .cpp files of the paths whose cache is bf16.
#pragma once

#include "kernels/cpu/attend.h"
#include "kernels/cpu/to_bf16.h"

namespace slipstream {
namespace {

SLIPSTREAM_INLINE float* scores_of(const AttendArgs& args, int32_t block, int64_t query) {
  return args.scores + (int64_t{block - args.first_block} * args.rows * args.heads + query) * kCacheRows;
}

// The weights of a query for the keys of a block: bf16, in the memory of its scores.
SLIPSTREAM_INLINE uint16_t* weights_of(const AttendArgs& args, int32_t block, int64_t query) {
  return reinterpret_cast<uint16_t*>(scores_of(args, block, query));
}

// Moves the scores of a tree row's ancestors behind those of its context, in path order (as
// gather_path in attend.h). Returns the number of keys.
SLIPSTREAM_INLINE int32_t gather_bf16_path(const AttendArgs& args, int32_t query) {
  const int32_t row = query / args.heads, visible = args.visible[row];
  const auto score = [&](int32_t position) __attribute__((always_inline)) -> float& {
    return scores_of(args, position / kCacheRows, query)[position % kCacheRows];
  };
  int32_t key = visible;
  for (uint64_t bits = args.ancestors[row]; bits != 0; bits &= bits - 1) score(key++) = score(visible + __builtin_ctzll(bits));
  return key;
}

// e^x, and 0 for minus infinity: 2^n times a fitted polynomial of degree 4 in the fraction of x
// log2 e. Its relative error is at most 3e-6, a thousandth of that of rounding to bf16. It takes
// half as long as exp_of (lanes.h).
SLIPSTREAM_INLINE __m512 weight_of(__m512 below) {
  constexpr int kDown = 1;  // n is the next integer below
  const __m512 power = below * _mm512_set1_ps(1.44269504F), rest = _mm512_reduce_ps(power, kDown);
  __m512 mantissa = _mm512_set1_ps(0.0134266848F);
  for (const float term : {0.0522424731F, 0.241280206F, 0.693044845F, 1.0F}) {
    mantissa = _mm512_fmadd_ps(mantissa, rest, _mm512_set1_ps(term));
  }
  return _mm512_scalef_ps(mantissa, power);
}

// Turns the scores of some queries into weights. The queries go through each block together, as
// their scores of a block are neighbours.
class Softmax {
 public:
  static constexpr int32_t kTogether = 32;  // queries at a time: their state stays in the first cache

  Softmax(const AttendArgs& args, int32_t first, int32_t count) : args_(args), first_(first), count_(count) {
    int32_t least = 0, latest = 0;  // the fewest keys, and the last of the first keys
    for (int32_t i = 0; i < count; ++i) {
      keys_[i] = gather_bf16_path(args, first + i);
      firsts_[i] = first_key(args, (first + i) / args.heads);
      least = i == 0 || keys_[i] < least ? keys_[i] : least;
      latest = firsts_[i] > latest ? firsts_[i] : latest;
      blocks_ = keys_[i] > blocks_ * kCacheRows ? (keys_[i] + kCacheRows - 1) / kCacheRows : blocks_;
      most_[i] = _mm512_set1_ps(-__builtin_inff());
      total_[i] = _mm512_setzero_ps();
    }
    whole_end_ = least / kCacheRows;
    const int32_t from = (latest + kCacheRows - 1) / kCacheRows;
    whole_ = from < whole_end_ ? from : whole_end_;
    if (whole_ < args.first_block) whole_ = args.first_block;
  }

  // weights = e^(score - highest), zero before the first key and behind the last. totals = their
  // sums before rounding to bf16, first lane by lane, then over the lanes.
  void run() {
    if (args_.soft_cap > 0) cap();
    each_block([&](auto whole, int32_t block) __attribute__((always_inline)) { find_most<whole>(block); });
    for (int32_t i = 0; i < count_; ++i) most_[i] = _mm512_set1_ps(highest(Lanes{{reinterpret_cast<Vector>(most_[i])}}));
    each_block([&](auto whole, int32_t block) __attribute__((always_inline)) { weigh<whole>(block); });
    for (int32_t i = 0; i < count_; ++i) args_.totals[first_ + i] = sum(Lanes{{reinterpret_cast<Vector>(total_[i])}});
  }

 private:
  // Calls run(whole, block) for each block, with `whole` a constant: whether all queries see it
  // whole.
  template <class Run>
  [[gnu::always_inline]] inline void each_block(const Run& run) const {
    for (int32_t b = args_.first_block; b < whole_; ++b) run(std::false_type(), b);
    for (int32_t b = whole_; b < whole_end_; ++b) run(std::true_type(), b);
    for (int32_t b = whole_end_; b < blocks_; ++b) run(std::false_type(), b);
  }

  // The keys of a half of a block that query i sees.
  template <bool kWhole>
  __mmask16 seen(int32_t i, int32_t block, int32_t half) const {
    const int32_t at = block * kCacheRows + half * kLanes;
    return kWhole ? __mmask16{0xFFFF} : static_cast<__mmask16>(first_lanes(keys_[i] - at) & ~first_lanes(firsts_[i] - at));
  }

  // Keys that a query does not see are capped, too, which changes nothing.
  void cap() {
    for (int32_t b = args_.first_block; b < blocks_; ++b) {
      for (int32_t i = 0; i < count_; ++i) {
        float* scores = scores_of(args_, b, first_ + i);
        for (int32_t at = 0; at < kCacheRows; at += kLanes) {
          store_vector(scores + at, soft_capped(load_vector(scores + at), args_.soft_cap));
        }
      }
    }
  }

  template <bool kWhole>
  void find_most(int32_t block) {
    for (int32_t i = 0; i < count_; ++i) {
      const float* scores = scores_of(args_, block, first_ + i);
      for (int32_t half = 0; half < 2; ++half) {
        const __m512 score = _mm512_mask_loadu_ps(most_[i], seen<kWhole>(i, block, half), scores + half * kLanes);
        most_[i] = _mm512_max_ps(score, most_[i]);
      }
    }
  }

  template <bool kWhole>
  void weigh(int32_t block) {
    for (int32_t i = 0; i < count_; ++i) {
      const float* scores = scores_of(args_, block, first_ + i);
      if (!kWhole && keys_[i] <= block * kCacheRows) continue;
      __m512 weights[2];
      for (int32_t half = 0; half < 2; ++half) {
        const __mmask16 mask = seen<kWhole>(i, block, half);
        const __m512 score = _mm512_mask_loadu_ps(most_[i], mask, scores + half * kLanes);
        weights[half] = _mm512_maskz_mov_ps(mask, weight_of(score - most_[i]));
        total_[i] += weights[half];
      }
      _mm512_storeu_si512(weights_of(args_, block, first_ + i),
                          reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(weights[1], weights[0])));
    }
  }

  const AttendArgs& args_;
  int32_t first_, count_;
  int32_t blocks_ = 0;                 // behind the last block that any query sees
  int32_t whole_ = 0, whole_end_ = 0;  // blocks that all see whole
  int32_t firsts_[kTogether], keys_[kTogether];
  __m512 most_[kTogether], total_[kTogether];
};

void bf16_attend_weights(const AttendArgs& args, int32_t first_query, int32_t last_query) {
  for (int32_t first = first_query; first < last_query; first += Softmax::kTogether) {
    const int32_t left = last_query - first;
    Softmax(args, first, left < Softmax::kTogether ? left : Softmax::kTogether).run();
  }
}

}  // namespace
}  // namespace slipstream
