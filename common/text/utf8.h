// Bytes that may be broken UTF-8 -> valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace slipstream {

// Moves all of `bytes` that can be judged into valid UTF-8, each maximal ill-formed part as one
// U+FFFD (Unicode 15.0, section 3.9, "U+FFFD substitution of maximal subparts"), and leaves in
// `bytes` the beginning of a character, at most 3 bytes.
std::string take_utf8(std::string& bytes);

// The same for bytes that nothing follows: an incomplete character becomes U+FFFD too.
std::string lossy_utf8(std::string_view bytes);

}  // namespace slipstream
