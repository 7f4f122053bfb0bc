// Converts between one Cap'n Proto message and one flat array of bytes, and turns Cap'n Proto's
// exceptions into errors. Private to this layer.
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

inline constexpr size_t kScratchWords = 256;  // 2 KiB: room for most messages without an allocation

// The standard stream framing: segment table, then segments; not packed.
Bytes flatten(capnp::MessageBuilder& builder);

// A copy of the bytes at an address that is a multiple of 8. Most received frames have no such
// address, and Cap'n Proto's reader refuses them.
//
// Errors: no bytes, more than bytes_max, or a size that is no multiple of 8.
Result<kj::Array<capnp::word>> align(std::span<const std::byte> bytes, size_t bytes_max);

// Encodes a message. fill(top) must set one alternative of Top's union. REQUIRES: check(message)
// succeeds.
template <class Top, class Message, class Fill>
Bytes encode_checked(const Message& message, Fill fill) {
  const Result<void> checked = check(message);
  CHECK(checked, "a message of ours is over its own limits: {}", checked.error().message);
  capnp::word scratch[kScratchWords] = {};  // Cap'n Proto requires zeros here
  capnp::MallocMessageBuilder builder(kj::arrayPtr(scratch, kScratchWords));
  fill(builder.initRoot<Top>());
  return flatten(builder);
}

// Decodes a message. read(top) must return a Result<Message>. The message is then checked with
// check().
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
