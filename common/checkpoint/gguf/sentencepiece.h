// The merges of a SentencePiece BPE. Its model has none: it joins the two neighbours whose joined
// piece has the highest score, the leftmost two of several. A list of merges in the order of these
// scores does the same.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/base/ids.h"

namespace slipstream {

// Finding the merges of a piece takes time by the square of its length. SentencePiece trains pieces
// of at most 16 characters.
inline constexpr size_t kPieceBytesMax = 512;

struct ScoredPiece {
  std::string_view text;  // UTF-8, of at most kPieceBytesMax bytes
  double score = 0;
};

struct PieceMerge {
  std::string_view left, right;  // pieces, too
};

// Every way to cut a piece into two pieces, as transformers' generate_merges() orders them: the
// highest score first; of equal ones that with the longest left part, then that of the first piece.
// REQUIRES: no text occurs twice, and no score is NaN.
std::vector<PieceMerge> sentencepiece_merges(std::span<const ScoredPiece> pieces);

}  // namespace slipstream
