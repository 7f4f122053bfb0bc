// How logs, and the ids of answers, name a sequence: the same text in every process, so that one
// search finds a request in all logs. "chatcmpl-" and this is the id of an answer, of its first
// choice; the counter is in hexadecimal.
#pragma once

#include <string>

#include <fmt/format.h>

#include "common/base/ids.h"

namespace slipstream {

inline std::string sequence_name(const SequenceId& id) { return fmt::format("{:016x}{:x}", id.router, id.counter); }

}  // namespace slipstream
