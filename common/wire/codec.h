// Plain structs <-> Cap'n Proto bytes: the codec only, no sockets. The sole layer that sees Cap'n
// Proto types.
//
// encode() aborts on a message over our own limits (a bug of ours). decode_*() copies the bytes to
// aligned memory, bounds every list, and gives an Error for anything malformed, never an exception;
// an unknown union tag decodes to Unknown.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/messages/boundary.h"

namespace slipstream::wire {

using Bytes = std::vector<std::byte>;

Bytes encode(const ControlMessage& message);
Bytes encode(const GenerateMessage& message);
Bytes encode(const DraftMessage& message);

Result<ControlMessage> decode_control(std::span<const std::byte> bytes);
Result<GenerateMessage> decode_generate(std::span<const std::byte> bytes);
Result<DraftMessage> decode_draft(std::span<const std::byte> bytes);

}  // namespace slipstream::wire
