// A drafter's message as the tree that it says.
#pragma once

#include "common/base/result.h"
#include "common/messages/draft.h"
#include "common/speculation/rejection/draft_tree.h"

namespace slipstream {

// With its distributions, if the rule is of the ratio family. An error says what is wrong with it.
Result<DraftTree> tree_of(const Tree& message, const Acceptance& acceptance, int32_t vocabulary);

}  // namespace slipstream
