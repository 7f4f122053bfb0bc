#include "common/base/printable.h"

#include <fmt/format.h>

namespace slipstream {
namespace {

// The number of bytes of the character at the front of `text` if it leaves its place; 0: it stays.
size_t unprintable(std::string_view text) {
  const auto byte = [&](size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return 2;  // C1
  if (byte(0) != 0xE2) return 0;
  const bool separates_or_turns = byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE;  // U+2028 to U+202E
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;            // U+2066 to U+2069
  return separates_or_turns || isolates ? 3 : 0;
}

}  // namespace

bool is_printable(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (unprintable(text.substr(at)) > 0) return false;
  }
  return true;
}

std::string one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const size_t size = unprintable(text);
    for (const char c : text.substr(0, size)) line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    if (size == 0) line += text.front();
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return line;
}

}  // namespace slipstream
