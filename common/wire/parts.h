// Encodes and decodes the parts that messages of several boundaries contain. Private to this layer.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/limits.h"
#include "common/base/result.h"
#include "common/messages/common.h"
#include "common/wire/schema/common.capnp.h"

namespace slipstream::wire {

void write(schema::SequenceId::Builder to, const SequenceId& id);
void write(schema::VersionRange::Builder to, const VersionRange& range);
void write(schema::Fingerprint::Builder to, const Fingerprint& fingerprint);
void write(schema::Tuning::Builder to, const Tuning& tuning);
void write(capnp::List<int32_t>::Builder to, std::span<const TokenId> ids);  // REQUIRES: the same size

SequenceId read(schema::SequenceId::Reader from);
VersionRange read(schema::VersionRange::Reader from);
Result<Fingerprint> read(schema::Fingerprint::Reader from);
Result<Tuning> read(schema::Tuning::Reader from);

// Read a list or a text. `field` is its name in the error.
//
// Errors: more than entries_max entries or bytes_max bytes (found before memory is allocated),
// or text that is_text() refuses.
Result<std::vector<TokenId>> read(std::string_view field, capnp::List<int32_t>::Reader from, int entries_max);
Result<std::string> read(std::string_view field, capnp::Text::Reader from, size_t bytes_max = kTextBytesMax);
// The check of a list's length alone.
Result<void> bounded(std::string_view field, size_t entries, int entries_max);

// Converts an enum of the schema to our enum with the same number. Error: a number above `last`.
template <class Ours, class Theirs>
Result<Ours> read_enum(std::string_view field, Theirs from, Ours last) {
  const auto number = static_cast<unsigned>(from);
  if (number > static_cast<unsigned>(last))
    return fail("{} is {}, the last known is {}", field, number, static_cast<int>(last));
  return static_cast<Ours>(number);
}

// Converts our enum to the schema's enum with the same number.
template <class Theirs, class Ours>
Theirs as(Ours value) {
  return static_cast<Theirs>(value);
}

}  // namespace slipstream::wire
