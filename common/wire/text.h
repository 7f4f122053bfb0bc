// The rule for text on the wire: UTF-8 without NUL, at most kTextBytesMax bytes. Logs and JSON can
// then hold it without further checks.
#pragma once

#include <string>
#include <string_view>

namespace slipstream::wire {

// Whether `text` is UTF-8 (RFC 3629) without NUL. It does not check the length.
bool is_text(std::string_view text);

// Makes any bytes fit for the wire: each byte that is_text() would refuse becomes '?', and the
// result is cut to kTextBytesMax bytes, between two characters.
std::string fit(std::string_view text);

}  // namespace slipstream::wire
