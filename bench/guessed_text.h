// Texts that are fixed beforehand, and drafters that guess them: how likely a guess is right is
// known, and whether it is was drawn beforehand, so all who choose the same nodes accept the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/actor/actor.h"
#include "common/speculation/token_tree.h"

namespace slipstream::guessed {

inline constexpr int32_t kVocabulary = 100, kPrompt = 8, kOutput = 8000;
inline constexpr int64_t kMeasured = 2000;  // tokens for each sequence
inline constexpr TokenId kWrong = 97, kOtherWrong = 98;
inline constexpr int kNodes = 8, kDepth = 8;

inline TokenId text(int32_t position) { return position % 90; }

inline double share(uint64_t sequence, int32_t position, uint64_t what) {
  uint64_t word = (sequence * 1'000'003 + static_cast<uint64_t>(position)) * 16 + what;
  word = (word ^ (word >> 31)) * 0x9E3779B97F4A7C15ull;
  word = (word ^ (word >> 29)) * 0xBF58476D1CE4E5B9ull;
  return static_cast<double>((word ^ (word >> 32)) >> 11) * 0x1p-53;
}

struct Drafter {
  std::string name;
  double easy = 0.5;    // share of tokens that it guesses with confidence 0.95; of the others 0.2
  double power = 1;     // it states survival to this power: below 1 boastful, above modest
  bool lies = false;    // its guesses are wrong
  double sure = 1;      // if it lies: how likely it calls them
  bool learns = false;  // it calibrates itself by the target's verdicts
  Time takes{100};      // from an Advance to its Tree
  uint64_t draws = 0;   // two with other draws know other tokens
};

// What a drafter guesses at a position: a token, and another one beside it.
struct Guesses {
  TokenId first = kWrong, second = kOtherWrong;
  double chance = 1, second_chance = 0;  // that each is right
};

inline Guesses guesses(const Drafter& drafter, uint64_t sequence, int32_t position) {
  if (drafter.lies) return {.chance = drafter.sure};
  Guesses made{.chance = share(sequence, position, 1 + drafter.draws) < drafter.easy ? 0.95 : 0.2};
  made.second_chance = (1 - made.chance) / 2;
  const bool right = share(sequence, position, 2 + drafter.draws) < made.chance;
  const bool second_right = !right && share(sequence, position, 3 + drafter.draws) < 0.5;
  if (right) made.first = text(position);
  if (second_right) made.second = text(position);
  return made;
}

struct Shape {
  int depth = kDepth;
  bool siblings = true;  // a second guess beside each token
};

// The tree behind the first `length` tokens of a sequence: the likeliest kNodes, with true
// survivals.
inline TokenTree guess(const Drafter& drafter, uint64_t sequence, int32_t length, const Shape& shape = {}) {
  std::vector<TreeNode> all;
  double reached = 1;
  int32_t parent = kRoot;
  for (int32_t position = length; position < length + shape.depth; ++position) {
    const Guesses made = guesses(drafter, sequence, position);
    all.push_back({made.first, parent, static_cast<float>(reached * made.chance)});
    const auto chain = static_cast<int32_t>(all.size()) - 1;
    if (made.second_chance > 0 && shape.siblings) {
      all.push_back({made.second, parent, static_cast<float>(reached * made.second_chance)});
    }
    parent = chain;
    reached *= made.chance;
  }
  TokenTree tree = *TokenTree::make(std::move(all), kVocabulary);
  std::vector<float> survivals;
  for (const TreeNode& node : tree.nodes()) survivals.push_back(node.survival);
  std::vector<int32_t> order = best_first(survivals);
  order.resize(std::min<size_t>(order.size(), kNodes));
  tree.keep(order);
  return tree;
}

inline int accepted(const TokenTree& tree, int32_t length) {
  int node = kRoot, count = 0;
  while ((node = tree.child(node, text(length + count))) >= 0) ++count;
  return count;
}

}  // namespace slipstream::guessed
