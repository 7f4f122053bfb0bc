#include "common/wire/flat.h"

#include <cstring>

#include <kj/io.h>

namespace slipstream::wire {

Bytes flatten(capnp::MessageBuilder& builder) {
  Bytes bytes(capnp::computeSerializedSizeInWords(builder) * sizeof(capnp::word));
  kj::ArrayOutputStream stream(kj::arrayPtr(reinterpret_cast<kj::byte*>(bytes.data()), bytes.size()));
  capnp::writeMessage(stream, builder);
  return bytes;
}

Result<kj::Array<capnp::word>> align(std::span<const std::byte> bytes, size_t bytes_max) {
  // The size is checked before the copy, so that a peer cannot make us allocate beyond the limit.
  if (bytes.empty()) return fail("a frame without a message");
  if (bytes.size() > bytes_max) return fail("a message of {} bytes, the limit is {}", bytes.size(), bytes_max);
  if (bytes.size() % sizeof(capnp::word) != 0) return fail("a message of {} bytes: no multiple of 8", bytes.size());
  auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
  std::memcpy(words.begin(), bytes.data(), bytes.size());
  return words;
}

}  // namespace slipstream::wire
