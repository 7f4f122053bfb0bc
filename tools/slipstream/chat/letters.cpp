#include "tools/slipstream/chat/letters.h"

#include <wchar.h>

namespace slipstream::command::chat {

void append_utf8(std::string& text, char32_t letter) {
  const auto byte = [&](char32_t value) { text += static_cast<char>(value); };
  const auto rest = [&](int shift) { byte(0x80 | ((letter >> shift) & 0x3f)); };
  if (letter < 0x80) return byte(letter);
  if (letter < 0x800) {
    byte(0xc0 | (letter >> 6));
  } else if (letter < 0x10000) {
    byte(0xe0 | (letter >> 12));
    rest(6);
  } else {
    byte(0xf0 | (letter >> 18));
    rest(12);
    rest(6);
  }
  rest(0);
}

std::u32string letters_of(std::string_view text) {
  std::u32string letters;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) == 0x80) {
      letters.back() = (letters.back() << 6) | (byte & 0x3fU);
    } else {
      letters += byte < 0x80 ? byte : byte < 0xe0 ? byte & 0x1fU : byte < 0xf0 ? byte & 0x0fU : byte & 0x07U;
    }
  }
  return letters;
}

int columns_of(char32_t letter) {
  const int columns = wcwidth(static_cast<wchar_t>(letter));
  return columns < 0 ? 1 : columns;
}

}  // namespace slipstream::command::chat
