// Counts how much speculation was at work in the answers that are compared. An answer without any
// drafts says nothing about speculation, however well it agrees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/slipstream/chat_client.h"

namespace slipstream::command::verify {

// Of the answers that a part compares, so many at least must have had a draft at work. What
// speculation alone does wrong shows in those only: a shift of theirs is seen at a tenth of its
// size in the worst case. With fewer, "the same" would speak of plain decoding.
inline constexpr double kDraftedShareMin = 0.1;

// [answer.ids] 1 where the tree of the token's step was deep enough to have a draft there, right or
// wrong. Empty: the server does not tell.
std::vector<uint8_t> drafted_places(const Answer& answer);

struct DraftUse {
  size_t answers = 0;  // of the candidate
  size_t told = 0;     // of those, that say how many nodes were judged for them
  size_t with = 0;     // likewise, that had a draft at a token that is compared
  int64_t nodes = 0;   // that steps judged for them, at whatever token
  int64_t accepted = 0;

  // compared: tokens of it that are. Where a server does not tell tokens, a draft anywhere counts.
  void add(const Answer& answer, size_t compared = SIZE_MAX);
  DraftUse& operator+=(const DraftUse& other);
  bool enough() const { return static_cast<double>(with) >= kDraftedShareMin * static_cast<double>(answers); }
};

}  // namespace slipstream::command::verify
