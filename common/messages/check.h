// Checks what a message's types do not express: list lengths, ranges, finite numbers. WIRE.md
// states each of them (docs/design/WIRE.md).
//
// Both directions use it: a decoder refuses a message that fails, and an encoder aborts. Whether a
// message fits the state of its receiver is for the actors to decide.
#pragma once

#include "common/base/result.h"
#include "common/messages/boundary.h"

namespace slipstream {

// Errors name the message, the field, its value and the limit. Reasons are not checked, because the
// encoder cuts them to their limit.
Result<void> check(const ControlMessage& message);
Result<void> check(const GenerateMessage& message);
Result<void> check(const DraftMessage& message);

}  // namespace slipstream
