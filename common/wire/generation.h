// Encoding and decoding of a GenerationSpec, in each message that carries one. Private to this
// layer.
#pragma once

#include "common/base/result.h"
#include "common/messages/generation.h"
#include "common/wire/schema/draft.capnp.h"
#include "common/wire/schema/generate.capnp.h"

namespace slipstream::wire {

// Fills those fields of the message that belong to the spec.
void write(schema::Start::Builder to, const GenerationSpec& spec);
void write(schema::SequenceInfo::Builder to, const GenerationSpec& spec);  // drafter_part() of it

Result<GenerationSpec> read(schema::Start::Reader from);
Result<GenerationSpec> read(schema::SequenceInfo::Reader from);

}  // namespace slipstream::wire
