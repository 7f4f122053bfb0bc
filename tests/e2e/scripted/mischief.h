// Everything wrong that a drafter can send in place of a tree, each under a name: frames that are
// no messages, messages that are no trees, trees that are no trees, and good trees behind wrong
// fences. None may change a word or stop a verifier.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "common/messages/draft.h"
#include "tests/e2e/scripted/raw_transport.h"

namespace slipstream {

struct MischiefContext {
  Incarnation self = 0;  // of this life
  int32_t vocabulary = 0;
  std::mt19937_64 random;
};

struct Mischief {
  std::string_view name;
  // honest: a valid tree with at least one node, fenced for the round that asked for it. Returns
  // what to send instead.
  std::vector<Parcel> (*parcels)(Tree honest, MischiefContext& context);
};

std::span<const Mischief> all_mischief();

}  // namespace slipstream
