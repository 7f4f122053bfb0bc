// Tells whether a prompt has words in common with prompts that must not be in a corpus: those that
// something is measured with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>

namespace slipstream::command {

inline constexpr size_t kOverlapWords = 8;  // in a row; case and punctuation do not count

class Overlap {
 public:
  void exclude(std::string_view prompt);
  // Whether the prompt has kOverlapWords words in a row from one of these prompts, or, if it is
  // shorter, is one of them.
  bool meets(std::string_view prompt) const;

 private:
  std::unordered_set<uint64_t> runs_;  // hashes
};

}  // namespace slipstream::command
