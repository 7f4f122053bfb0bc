// Which text of a peer stays where it is shown, on one line and in its reading order: text without
// control characters (C0, DEL, C1), without the line and paragraph separators of Unicode, and
// without the characters that turn the direction of what follows. Pure.
#pragma once

#include <string>
#include <string_view>

namespace slipstream {

// Whether no character of this UTF-8 text leaves its place.
bool is_printable(std::string_view text);

// The same text with the bytes of such characters as \xNN: "a\nb" becomes "a\x0ab".
std::string one_line(std::string_view text);

}  // namespace slipstream
