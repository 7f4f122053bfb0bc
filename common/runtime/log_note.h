// Writes an actor's Note to the process's log. A line that is about a sequence begins with its name
// (base/sequence_name.h), which as JSON is the field "sequence".
//
// Thread-safe.
#pragma once

#include <string_view>

#include "common/actor/actor.h"

namespace slipstream {

inline constexpr std::string_view kSequenceField = "sequence";

void log_note(const Note& note);

}  // namespace slipstream
