// A language model of a few lines: the logits after a context are random numbers keyed by the
// tokens of that context. It has a cache like a real one, one row a position, so that a step that
// reads a wrong, stale or unmoved row gives wrong tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/kv/block_pool.h"
#include "common/model/step_plan.h"
#include "common/sampling/sample_token.h"
#include "services/verifier/step_output.h"

namespace slipstream::sim {

inline constexpr int32_t kToyVocabulary = 24;
inline constexpr TokenId kToyStop = 0;

// Which model: equal distributions give equal logits.
struct ToyDistribution {
  uint64_t weights = 1;
  double noise = 0;  // share of other logits mixed in: 0 the model itself, 1 another one

  void logits(uint64_t context, std::span<float> out) const;  // [kToyVocabulary]
};

// The state after some tokens; what a cache row holds is the state's word.
class ToyContext {
 public:
  void add(TokenId token, int32_t position) { read(row(token, position)); }
  uint64_t row(TokenId token, int32_t position) const {  // what that token writes
    return mix(hash_ ^ (static_cast<uint64_t>(token) << 32 | static_cast<uint32_t>(position + 1)));
  }
  void read(uint64_t row) { hash_ = mix(hash_ * 31 + row); }
  uint64_t hash() const { return hash_; }

 private:
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ull;
    return x ^ (x >> 29);
  }
  uint64_t hash_ = 0;
};

// The target's cache and forward pass: runs what gather() planned.
class ToyTarget {
 public:
  ToyTarget(ToyDistribution distribution, int32_t cache_blocks)
      : distribution_(distribution), cache_(static_cast<size_t>(cache_blocks) * kBlockTokens) {}
  std::vector<TokenId> run(const Step& step);  // [wanted]

 private:
  ToyDistribution distribution_;
  std::vector<uint64_t> cache_;  // [slots]
  std::vector<uint64_t> after_;  // [rows] the context's hash after each row
  SamplingScratch scratch_;
};

struct ToyQuestion {
  std::vector<TokenId> prompt;
  SamplingParams sampling;
  LogitsParams logits_params;
  uint64_t seed = 0;
};

// Plain decoding of one request, without any of our machinery but adjust() and choose(): what every
// answer must equal.
class ToyOracle {
 public:
  ToyOracle(ToyDistribution distribution, const ToyQuestion& question);
  TokenId next();  // and goes on from it

 private:
  void add(TokenId token);

  ToyDistribution distribution_;
  ToyContext context_;
  std::vector<TokenId> tokens_;
  size_t prompt_ = 0;
  LogitsParams logits_params_;
  RowSampling row_;
  SamplingScratch scratch_;
};

}  // namespace slipstream::sim
