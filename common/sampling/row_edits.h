// What penalties, biases and masks do to one row of logits, flat: numbers for some tokens and a bit
// for each, so that any device applies them. The host makes them, perhaps while the device still
// computes the row.
//
//   edits.begin(vocabulary);
//   processor.edit(path, edits);
//   edits.allow_only(grammar_mask);
//   edits.apply(logits);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/sampling/token_mask.h"
#include "kernels/exact/logit_edit.h"

namespace slipstream {

// Applied in the order of the fields. A token stands once in each list, and is in [0, vocabulary).
struct RowEdits {
  int32_t vocabulary = 0;
  std::vector<LogitEdit> penalties, biases;
  std::vector<uint32_t> allowed;  // [ceil(vocabulary / 32)] as TokenMask::words(); empty: every token is

  void begin(int32_t tokens);  // no edits
  bool has(TokenId token) const { return token >= 0 && token < vocabulary; }
  void forbid(TokenId token);                           // one beyond the vocabulary is passed over
  void allow_only(std::span<const TokenId> ascending);  // and what was allowed before
  void allow_only(const TokenMask& mask);
  void forbid_all();  // so that the row is refused
  bool allows_any() const;

  // logits: [vocabulary]. A logit that is NaN or +inf stays so, even where it is masked: the chain
  // must see it and refuse the row.
  void apply(std::span<float> logits) const;
};

}  // namespace slipstream
