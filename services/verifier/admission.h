// Whether a Start makes sense for this verifier at all; whether there is a slot for it now is the actor's question.
#pragma once

#include <optional>
#include <string>

#include "services/verifier/events.h"

namespace slipstream {

struct NotAdmitted {
  std::string reason;  // a sentence, for the client
  bool retry = false;  // here later, or elsewhere now
};
std::optional<NotAdmitted> why_not(const Start& start, const VerifierConfig& config);

}  // namespace slipstream
