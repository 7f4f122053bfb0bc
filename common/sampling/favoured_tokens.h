// The tokens that a row's noise favours most. The token with the highest logit + noise is sampled
// (sample_token.h), so of thousands of unlikely tokens, those with most noise are the ones that may
// be: a drafter that has to choose which tokens it scores loses little if it scores these.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/sampling/params.h"
#include "common/sampling/token_mask.h"
#include "kernels/cpu/vocabulary.h"
#include "kernels/exact/noise.h"

namespace slipstream {

inline constexpr size_t kFavouredTokens = 8;

class FavouredTokens {
 public:
  // Of the tokens below `vocabulary` that are not in the set.
  FavouredTokens(TokenMask without, int32_t vocabulary) : without_(std::move(without)), vocabulary_(vocabulary) {}

  // Those of the highest noise levels (kernels/exact/noise.h), the highest first, of equal ones the
  // lowest id. At most kFavouredTokens. Valid until the next call.
  std::span<const TokenId> of(const RowSampling& row);

 private:
  struct Chosen {
    NoiseKey key;
    std::array<TokenId, kFavouredTokens> tokens{};
    size_t count = 0;
    uint64_t used = 0;  // 0: the entry is free
  };
  static constexpr size_t kChosenKept = 256;  // rows: a position is drafted again in the next rounds

  void choose(Chosen& chosen);

  TokenMask without_;
  int32_t vocabulary_;
  std::vector<uint8_t> levels_;
  std::array<Chosen, kChosenKept> kept_{};
  uint64_t clock_ = 0;
};

}  // namespace slipstream
