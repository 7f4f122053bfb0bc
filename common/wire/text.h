// Text on the wire is UTF-8 without NUL, of at most kTextBytesMax bytes: it ends up in logs and in
// JSON, which must not choke on it.
#pragma once

#include <string>
#include <string_view>

namespace slipstream::wire {

bool is_text(std::string_view text);

// A reason as it may travel: cut to kTextBytesMax between characters, bytes that are no text
// replaced by '?'.
std::string fit(std::string_view text);

}  // namespace slipstream::wire
