// Encodes and decodes a GenerationSpec as part of the messages that carry one. Private to this
// layer.
#pragma once

#include "common/base/result.h"
#include "common/messages/generation.h"
#include "common/wire/schema/draft.capnp.h"
#include "common/wire/schema/generate.capnp.h"

namespace slipstream::wire {

// Sets the fields of the message that hold the spec, and leaves the others alone.
void write(schema::Start::Builder to, const GenerationSpec& spec);
void write(schema::SequenceInfo::Builder to, const GenerationSpec& spec);  // only drafter_part() of it

// Errors: an unknown rule, or a list over its limit.
Result<GenerationSpec> read(schema::Start::Reader from);
Result<GenerationSpec> read(schema::SequenceInfo::Reader from);

}  // namespace slipstream::wire
