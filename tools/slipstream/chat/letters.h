// The letters of a text, and how wide a terminal shows them. Pure, but for the locale, by which
// wcwidth(3) tells how wide a letter is.
#pragma once

#include <string>
#include <string_view>

namespace slipstream::command::chat {

// REQUIRES: valid UTF-8.
std::u32string letters_of(std::string_view text);
void append_utf8(std::string& text, char32_t letter);

// Columns: 0 for a mark on the letter before it, 2 for a wide letter, 1 for what the locale does
// not know.
int columns_of(char32_t letter);

}  // namespace slipstream::command::chat
