#include "common/zmq/envelope.h"

namespace slipstream {
namespace {

constexpr std::byte kFirst{'S'}, kSecond{'L'};
constexpr size_t kIncarnationAt = 4;

}  // namespace

std::array<std::byte, kEnvelopeBytes> pack(const Envelope& envelope) {
  std::array<std::byte, kEnvelopeBytes> frame{kFirst, kSecond, std::byte{kProtocolVersion}, std::byte(envelope.boundary)};
  for (size_t n = 0; n < 8; ++n) frame[kIncarnationAt + n] = std::byte(envelope.sender >> (8 * n));
  return frame;
}

Result<Envelope> unpack(std::span<const std::byte> frame) {
  if (frame.size() != kEnvelopeBytes || frame[0] != kFirst || frame[1] != kSecond) return fail("no Slipstream envelope");
  if (frame[2] != std::byte{kProtocolVersion}) {
    return fail("envelope version {}, this process speaks {}", static_cast<int>(frame[2]), kProtocolVersion);
  }
  if (frame[3] > std::byte(Boundary::draft)) return fail("envelope boundary {}: none of ours", static_cast<int>(frame[3]));
  Envelope envelope{.boundary = static_cast<Boundary>(frame[3])};
  for (size_t n = 0; n < 8; ++n) envelope.sender |= static_cast<uint64_t>(frame[kIncarnationAt + n]) << (8 * n);
  if (envelope.sender == 0 || envelope.sender >> 63 != 0) return fail("envelope of nobody: an incarnation is in [1, 2^63)");
  return envelope;
}

}  // namespace slipstream
