// Checks a Tree message and converts it to a DraftTree.
#pragma once

#include "common/base/result.h"
#include "common/messages/draft.h"
#include "common/speculation/rejection/draft_tree.h"

namespace slipstream {

// The DraftTree has its distributions if the rule is of the ratio family. An error says what is
// wrong with the message.
Result<DraftTree> tree_of(const Tree& message, const Acceptance& acceptance, int32_t vocabulary);

}  // namespace slipstream
