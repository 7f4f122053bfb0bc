#include "common/checkpoint/gguf/sentencepiece.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace slipstream {
namespace {

struct Cut {
  double score = 0;
  int left = 0, right = 0;  // characters
  PieceMerge merge;
};

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

int characters_in(std::string_view text) { return static_cast<int>(std::ranges::count_if(text, begins_character)); }

}  // namespace

std::vector<PieceMerge> sentencepiece_merges(std::span<const ScoredPiece> pieces) {
  std::unordered_set<std::string_view> known;
  for (const ScoredPiece& piece : pieces) known.insert(piece.text);
  std::vector<Cut> cuts;
  for (const auto& [text, score] : pieces) {
    const int characters = characters_in(text);
    int left = 1;
    for (size_t at = 1; at < text.size(); ++at) {
      if (!begins_character(text[at])) continue;
      const PieceMerge merge{text.substr(0, at), text.substr(at)};
      if (known.contains(merge.left) && known.contains(merge.right)) cuts.push_back({score, left, characters - left, merge});
      ++left;
    }
  }
  std::ranges::stable_sort(cuts, [](const Cut& a, const Cut& b) {
    return std::tuple(a.score, a.left, a.right) > std::tuple(b.score, b.left, b.right);
  });
  std::vector<PieceMerge> merges;
  for (const Cut& cut : cuts) merges.push_back(cut.merge);
  return merges;
}

}  // namespace slipstream
