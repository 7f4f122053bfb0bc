// Counts how much speculation was at work in the answers that are compared. An answer without any
// drafts says nothing about speculation, even if both servers agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/slipstream/chat_client.h"

namespace slipstream::command::verify {

// The least share of the compared answers that must have had a draft. An error of speculation shows
// in those answers only, so at this share it appears, in the worst case, at a tenth of its size.
// With fewer drafts, the verdict "the same" would be a statement about plain decoding.
inline constexpr double kDraftedShareMin = 0.1;

// [answer.ids] 1 if the draft tree of the token's step was deep enough to have a node at that
// token, accepted or not. Empty: the server does not say.
std::vector<uint8_t> drafted_places(const Answer& answer);

struct DraftUse {
  size_t answers = 0;  // of the candidate
  size_t told = 0;     // answers that say how many nodes were verified for them
  size_t with = 0;     // of those, answers with a draft at a compared token
  int64_t nodes = 0;   // draft nodes verified for them, at any token
  int64_t accepted = 0;

  // compared: how many of its tokens are compared. If a server does not say which tokens had
  // drafts, a draft anywhere in the answer counts.
  void add(const Answer& answer, size_t compared = SIZE_MAX);
  DraftUse& operator+=(const DraftUse& other);
  bool enough() const { return static_cast<double>(with) >= kDraftedShareMin * static_cast<double>(answers); }
};

}  // namespace slipstream::command::verify
