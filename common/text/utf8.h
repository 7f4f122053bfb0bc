// Turns bytes that may be invalid UTF-8 into valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace slipstream {

// For a stream: removes from `bytes` all but an incomplete character at their end (3 bytes at
// most), and returns what it removed as valid UTF-8. Each maximal ill-formed part becomes one
// U+FFFD (Unicode 15.0, section 3.9, "U+FFFD substitution of maximal subparts").
std::string take_utf8(std::string& bytes);

// The same for the end of a stream: an incomplete character becomes U+FFFD too.
std::string lossy_utf8(std::string_view bytes);

}  // namespace slipstream
