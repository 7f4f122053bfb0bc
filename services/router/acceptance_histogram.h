// Counts the verify steps of an answer by the length of their drafts and by the drafted tokens that
// they accepted: the values of vLLM's `acceptance_histogram` and
// `acceptance_histogram_by_draft_length`. The length of a draft tree is its depth; a step without a
// draft has length 0. A step emits the drafted tokens that it accepts and then one of its own,
// unless the answer ends before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace slipstream {

class AcceptanceHistogram {
 public:
  // The next token. length: of its step's draft; at least 1 for a drafted token.
  void add(bool drafted, int length);
  // The answer, or the part of one verifier, ends here, maybe with a drafted token.
  void end_step();
  void add(const AcceptanceHistogram& other);  // the steps of another answer

  int longest() const;  // the longest draft of any step; -1 before the first step
  // [length + 1] The steps with drafts of this length, by accepted tokens. REQUIRES: length <=
  // longest().
  std::span<const uint32_t> of_length(int length) const;
  std::vector<uint32_t> of_all() const;  // [longest + 1] all steps, by accepted tokens

 private:
  void count(int length);

  std::vector<uint32_t> steps_;  // of length 0, of length 1, ...
  int accepted_ = 0;             // so far by the step whose tokens come in
  int length_ = 0;
};

}  // namespace slipstream
