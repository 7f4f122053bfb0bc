// What a message must fulfil beyond its types: list lengths, ranges, finite numbers
// (docs/design/WIRE.md states each). The decoder refuses what fails here, the encoder aborts on it:
// one truth for both. Whether a message fits the state of its reader is the actors' to say.
#pragma once

#include "common/base/result.h"
#include "common/messages/boundary.h"

namespace slipstream {

// The error names message, field, value and limit. Free text (reasons) is not looked at: the
// encoder cuts it to its limit.
Result<void> check(const ControlMessage& message);
Result<void> check(const GenerateMessage& message);
Result<void> check(const DraftMessage& message);

}  // namespace slipstream
