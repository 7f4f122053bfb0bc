#include "tools/slipstream/corpus/overlap.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <string>
#include <vector>

namespace slipstream::command {
namespace {

// Letters, digits and all bytes beyond ASCII make words.
bool in_word(char c) { return (static_cast<unsigned char>(c) & 0x80) != 0 || std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (in_word(c)) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// Of each run of kOverlapWords words, or of the whole of a shorter text.
std::vector<uint64_t> runs_of(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  std::vector<uint64_t> runs;
  const size_t length = std::min(words.size(), kOverlapWords);
  for (size_t first = 0; length > 0 && first + length <= words.size(); ++first) {
    std::string run;
    for (size_t i = 0; i < length; ++i) run += words[first + i] + ' ';
    runs.push_back(std::hash<std::string>{}(run));
  }
  return runs;
}

}  // namespace

void Overlap::exclude(std::string_view prompt) {
  for (const uint64_t run : runs_of(prompt)) runs_.insert(run);
}

bool Overlap::meets(std::string_view prompt) const {
  return std::ranges::any_of(runs_of(prompt), [&](uint64_t run) { return runs_.contains(run); });
}

}  // namespace slipstream::command
