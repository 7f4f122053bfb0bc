// How many verify steps of an answer accepted how many drafted tokens, by how long their drafts
// were: what vLLM's `acceptance_histogram` and `acceptance_histogram_by_draft_length` tell. A
// tree's length is its depth; a step without a draft has length 0. A step emits the drafted tokens
// that it accepts and then one of its own, unless the answer ends before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace slipstream {

class AcceptanceHistogram {
 public:
  // The next token; length: of its step's draft, at least 1 for a drafted token.
  void add(bool drafted, int length);
  // The answer, or what one verifier gave of it, ends here, maybe with a drafted token.
  void end_step();

  int longest() const;  // draft length of any step; -1 before the first
  // [length + 1] steps with drafts of this length by how many tokens they accepted; length <=
  // longest().
  std::span<const uint32_t> of_length(int length) const;
  std::vector<uint32_t> of_all() const;  // [longest + 1]

 private:
  void count(int length);

  std::vector<uint32_t> steps_;  // of length 0, of length 1, ...
  int accepted_ = 0;             // by the step whose tokens are coming in
  int length_ = 0;
};

}  // namespace slipstream
