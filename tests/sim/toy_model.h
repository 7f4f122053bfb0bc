// A language model of a few lines. The logits after a context are random numbers keyed by the
// context's tokens. Like a real model it has a cache of one row a position, so that a step that
// reads a wrong, stale or unmoved row gives wrong tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/grammar/grammar.h"
#include "common/kv/block_pool.h"
#include "common/model/step_plan.h"
#include "common/sampling/sample_token.h"
#include "services/verifier/step_output.h"

namespace slipstream::sim {

inline constexpr int32_t kToyVocabulary = 24;
inline constexpr TokenId kToyStop = 0;
inline constexpr uint64_t kToyHead = 7;           // whose features verifiers send
inline constexpr int32_t kToyFeatureNumbers = 4;  // of a feature: the state after its token

// Identifies a model: equal values give equal logits.
struct ToyDistribution {
  uint64_t weights = 1;
  double noise = 0;  // share of unrelated logits mixed in; 0: the model itself, 1: another one

  void logits(uint64_t context, std::span<float> out) const;  // [kToyVocabulary]
  float logprob(uint64_t context) const;                      // told of whatever token follows: it shows which row it is of
};

// The state after some tokens. A cache row holds one 64-bit word that stands for its token and
// position.
class ToyContext {
 public:
  void add(TokenId token, int32_t position) { read(row(token, position)); }
  uint64_t row(TokenId token, int32_t position) const {  // the word that a token writes into its cache row
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

// The target's cache and forward pass; runs what gather() planned.
class ToyTarget {
 public:
  ToyTarget(ToyDistribution distribution, int32_t cache_blocks)
      : distribution_(distribution), cache_(static_cast<size_t>(cache_blocks) * kBlockTokens), plane_(cache_.size()) {}
  std::vector<TokenId> run(const Step& step);  // [wanted] sampled tokens
  // Of the last run.
  float logprob(int32_t row) const { return distribution_.logprob(after_.at(static_cast<size_t>(row))); }
  std::vector<uint16_t> features(std::span<const int32_t> slots) const;  // [slots, kToyFeatureNumbers]
  // The tree of a draft head whose distribution is the target's with that noise. It does the moves
  // of the ask, and reads the cache rows of the sequence.
  TokenTree guess(const HeadAsk& ask, double noise);

 private:
  ToyDistribution distribution_;
  void move(std::span<const KvMove> moves);

  std::vector<uint64_t> cache_;  // [slots]
  std::vector<uint64_t> plane_;  // [slots] features
  std::vector<uint64_t> after_;  // [rows] the context's hash after each row
  SamplingScratch scratch_;
};

struct ToyQuestion {
  std::vector<TokenId> prompt;
  SamplingParams sampling;
  LogitsParams logits_params;
  GrammarText grammar;
  uint64_t seed = 0;
};

// Decodes one request plainly, without any of the product's machinery but the logits processor,
// the grammar and the sampling of a token. Every answer must equal its tokens.
class ToyOracle {
 public:
  ToyOracle(ToyDistribution distribution, const ToyQuestion& question);
  TokenId next();  // appends the token and returns it

 private:
  void add(TokenId token);

  ToyDistribution distribution_;
  ToyContext context_;
  std::vector<TokenId> tokens_;
  size_t prompt_ = 0;
  LogitsParams logits_params_;
  std::optional<Grammar> grammar_;
  RowSampling row_;
  SamplingScratch scratch_;
};

}  // namespace slipstream::sim
