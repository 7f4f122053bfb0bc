// The first of the two frames that carry a message over a socket (docs/design/WIRE.md), 12 bytes:
//   'S' 'L' | version | boundary | incarnation of the sender, lowest byte first
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
Result<Envelope> unpack(std::span<const std::byte> frame);

}  // namespace slipstream
