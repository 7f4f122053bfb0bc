// Encoding and decoding of what several boundaries carry. Private to this layer.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/messages/common.h"
#include "common/wire/schema/common.capnp.h"

namespace slipstream::wire {

void write(schema::SequenceId::Builder to, const SequenceId& id);
void write(schema::VersionRange::Builder to, const VersionRange& range);
void write(schema::Fingerprint::Builder to, const Fingerprint& fingerprint);
void write(schema::Tuning::Builder to, const Tuning& tuning);
void write(capnp::List<int32_t>::Builder to, std::span<const TokenId> ids);  // of the same size

SequenceId read(schema::SequenceId::Reader from);
VersionRange read(schema::VersionRange::Reader from);
Result<Fingerprint> read(schema::Fingerprint::Reader from);
Result<Tuning> read(schema::Tuning::Reader from);

// Bounded before anything is allocated; `field` names it in the error.
Result<std::vector<TokenId>> read(std::string_view field, capnp::List<int32_t>::Reader from, int entries_max);
Result<std::string> read(std::string_view field, capnp::Text::Reader from);
Result<void> bounded(std::string_view field, size_t entries, int entries_max);

// The enum of ours with the same number, up to `last`.
template <class Ours, class Theirs>
Result<Ours> read_enum(std::string_view field, Theirs from, Ours last) {
  const auto number = static_cast<unsigned>(from);
  if (number > static_cast<unsigned>(last))
    return fail("{} is {}, the last known is {}", field, number, static_cast<int>(last));
  return static_cast<Ours>(number);
}

template <class Theirs, class Ours>
Theirs as(Ours value) {
  return static_cast<Theirs>(value);
}

}  // namespace slipstream::wire
