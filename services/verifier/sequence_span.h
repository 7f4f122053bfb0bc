// The span of a verifier's sequence, for requests that are traced (actor/span.h). Pure.
#pragma once

#include "common/actor/span.h"
#include "services/verifier/sequence.h"

namespace slipstream {

// The id of the sequence's span, which is the parent of its drafters' spans.
uint64_t span_id_of(const VerifierSequence& sequence);
// The span, which ends now. REQUIRES: the request is traced.
Span span_of(const VerifierSequence& sequence, Time now);

}  // namespace slipstream
