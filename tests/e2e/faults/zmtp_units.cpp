#include "tests/e2e/faults/zmtp_units.h"

#include <algorithm>

#include "common/zmq/envelope.h"

namespace slipstream::faults {
namespace {

constexpr std::byte kMore{1}, kLong{2}, kCommand{4};  // flags of a frame

struct FrameHead {
  bool more = false, command = false;
  size_t size = 0;  // of the head itself
  uint64_t body = 0;
};

// Nothing: not all of it is there.
Result<std::optional<FrameHead>> read_head(std::span<const std::byte> bytes) {
  if (bytes.empty()) return std::nullopt;
  const std::byte flags = bytes[0];
  if ((flags & ~(kMore | kLong | kCommand)) != std::byte{0}) return fail("a frame with flags {}", static_cast<int>(flags));
  const bool is_long = (flags & kLong) != std::byte{0};
  FrameHead head{.more = (flags & kMore) != std::byte{0},
                 .command = (flags & kCommand) != std::byte{0},
                 .size = is_long ? size_t{9} : size_t{2}};
  if (bytes.size() < head.size) return std::nullopt;
  for (size_t i = 1; i < head.size; ++i) head.body = head.body << 8 | static_cast<uint64_t>(bytes[i]);
  if (head.body > kUnitBytesMax) return fail("a frame of {} bytes, the limit is {}", head.body, kUnitBytesMax);
  return head;
}

}  // namespace

Result<std::optional<Unit>> ZmtpUnits::next() {
  if (pending_.empty()) return std::nullopt;
  if (greeting_left_ > 0) {  // in pieces: each side waits for the other's between them
    const size_t size = std::min(greeting_left_, pending_.size());
    greeting_left_ -= size;
    return take(Unit::Kind::greeting, size);
  }
  const auto bytes = std::span<const std::byte>(pending_);
  std::optional<Boundary> boundary;
  for (size_t at = 0;;) {
    TRY(const std::optional<FrameHead> head, read_head(bytes.subspan(at)));
    if (!head || bytes.size() - at - head->size < head->body) return std::nullopt;
    const auto body = bytes.subspan(at + head->size, head->body);
    if (at == 0) {
      if (const auto envelope = unpack(body)) boundary = envelope->boundary;
    }
    at += head->size + body.size();
    if (at > kUnitBytesMax) return fail("a message of more than {} bytes", kUnitBytesMax);
    if (head->command) return take(Unit::Kind::command, at);
    if (head->more) continue;
    Unit message = take(Unit::Kind::message, at);
    message.boundary = boundary;
    return message;
  }
}

Unit ZmtpUnits::take(Unit::Kind kind, size_t size) {
  const auto end = pending_.begin() + static_cast<std::ptrdiff_t>(size);
  Unit unit{.kind = kind, .bytes = {pending_.begin(), end}, .boundary = std::nullopt};
  pending_.erase(pending_.begin(), end);
  return unit;
}

}  // namespace slipstream::faults
