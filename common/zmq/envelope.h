// The envelope: the first of the two frames that carry a message over a socket. It says who sent
// the message and which schema decodes the second frame (docs/design/WIRE.md, 1). Its 12 bytes:
//
//   0-1     'S' 'L'
//   2       version of envelope and framing
//   3       boundary
//   4-11    incarnation of the sender, lowest byte first
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "common/base/result.h"
#include "common/messages/boundary.h"

namespace slipstream {

inline constexpr size_t kEnvelopeBytes = 12;

struct Envelope {
  Boundary boundary = Boundary::control;
  Incarnation sender = 0;
  bool operator==(const Envelope&) const = default;
};

std::array<std::byte, kEnvelopeBytes> pack(const Envelope& envelope);
// Errors say which field is wrong. The result's sender is in [1, 2^63).
Result<Envelope> unpack(std::span<const std::byte> frame);

}  // namespace slipstream
