#include "tools/slipstream/verify/draft_use.h"

#include <algorithm>

namespace slipstream::command::verify {

// A step emits the tokens that it accepted from its tree, then one token of its own. The tree had a
// node at a token if the step accepted fewer tokens before it than the tree was deep.
std::vector<uint8_t> drafted_places(const Answer& answer) {
  std::vector<uint8_t> places;
  if (answer.depths.size() != answer.ids.size() || answer.drafted.size() != answer.ids.size()) return places;
  int accepted = 0;  // tokens that the current step accepted before this one
  for (size_t i = 0; i < answer.ids.size(); ++i) {
    places.push_back(accepted < int{answer.depths[i]} ? 1 : 0);
    accepted = answer.drafted[i] != 0 ? accepted + 1 : 0;
  }
  return places;
}

void DraftUse::add(const Answer& answer, size_t compared) {
  ++answers;
  if (!answer.draft_nodes) return;
  ++told;
  nodes += *answer.draft_nodes;
  accepted += answer.accepted_nodes;
  std::vector<uint8_t> places = drafted_places(answer);
  if (places.empty()) places.push_back(*answer.draft_nodes > 0 ? 1 : 0);
  places.resize(std::min(places.size(), compared));
  if (std::ranges::find(places, 1) != places.end()) ++with;
}

DraftUse& DraftUse::operator+=(const DraftUse& other) {
  answers += other.answers;
  told += other.told;
  with += other.with;
  nodes += other.nodes;
  accepted += other.accepted;
  return *this;
}

}  // namespace slipstream::command::verify
