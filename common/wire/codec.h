// Converts messages between plain structs and Cap'n Proto bytes. No other layer sees Cap'n Proto
// types. It knows no sockets: zmq/envelope.h frames the bytes.
//
//   Bytes bytes = encode(DraftMessage(tree));
//   Result<DraftMessage> message = decode_draft(bytes);
//
// All functions are pure and thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/messages/boundary.h"

namespace slipstream::wire {

using Bytes = std::vector<std::byte>;

// REQUIRES: check(message) succeeds and the message is no Unknown, else it aborts. Reasons are cut
// to kTextBytesMax.
Bytes encode(const ControlMessage& message);
Bytes encode(const GenerateMessage& message);
Bytes encode(const DraftMessage& message);

// Errors: anything malformed, out of range or over a limit; no exception leaves these functions.
// The bytes need not be aligned. A list is checked against its limit before memory is allocated for
// it. A message with an unknown union tag decodes to Unknown.
Result<ControlMessage> decode_control(std::span<const std::byte> bytes);
Result<GenerateMessage> decode_generate(std::span<const std::byte> bytes);
Result<DraftMessage> decode_draft(std::span<const std::byte> bytes);

}  // namespace slipstream::wire
