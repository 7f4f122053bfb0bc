// The seam to Cap'n Proto: one message <-> one flat array of bytes, exceptions turned into values.
// Private to this layer.
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/array.h>
#include <kj/exception.h>

#include "common/base/check.h"
#include "common/base/limits.h"
#include "common/messages/check.h"
#include "common/wire/codec.h"

namespace slipstream::wire {

inline constexpr size_t kScratchWords = 256;

Bytes flatten(capnp::MessageBuilder& builder);

// The bytes on 8-byte borders: most received frames are not, and the reader refuses those.
Result<kj::Array<capnp::word>> align(std::span<const std::byte> bytes, size_t bytes_max);

// fill(top) sets the one alternative of Top's union.
template <class Top, class Message, class Fill>
Bytes encode_checked(const Message& message, Fill fill) {
  const Result<void> checked = check(message);
  CHECK(checked, "a message of ours is over its own limits: {}", checked.error().message);
  capnp::word scratch[kScratchWords] = {};  // most messages fit: no allocation
  capnp::MallocMessageBuilder builder(kj::arrayPtr(scratch, kScratchWords));
  fill(builder.initRoot<Top>());
  return flatten(builder);
}

// read(top) gives a Result<Message>; what it returns is checked against the limits that its types
// do not express.
template <class Top, class Message, class Read>
Result<Message> decode_checked(std::span<const std::byte> bytes, size_t bytes_max, Read read) {
  TRY(const auto words, align(bytes, bytes_max));
  const capnp::ReaderOptions limits{.traversalLimitInWords = bytes_max / sizeof(capnp::word),
                                    .nestingLimit = kMessageNestingMax};
  try {
    capnp::FlatArrayMessageReader reader(words, limits);
    if (reader.getEnd() != words.end()) return fail("bytes follow the end of the message");
    TRY(Message message, read(reader.getRoot<Top>()));
    TRY_VOID(check(message));
    return message;
  } catch (const kj::Exception& exception) {
    return fail("no well-formed message: {}", exception.getDescription().cStr());
  }
}

}  // namespace slipstream::wire
