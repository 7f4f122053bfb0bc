#include "common/wire/text.h"

#include <algorithm>

#include "common/base/limits.h"

namespace slipstream::wire {
namespace {

// The number of bytes of the UTF-8 character at the front of `text`, or 0 if there is no
// well-formed one. RFC 3629 has no overlong forms, no surrogates and nothing above U+10FFFF, which
// narrows the second byte after the lead bytes E0, ED, F0 and F4. NUL counts as not well-formed.
size_t character(std::string_view text) {
  const auto byte = [&](size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
  const auto tail = [&](size_t at) { return (byte(at) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool second = lead == 0xE0   ? byte(1) >= 0xA0 && byte(1) <= 0xBF
                        : lead == 0xED ? byte(1) >= 0x80 && byte(1) <= 0x9F
                                       : tail(1);
    return second && tail(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool second = lead == 0xF0   ? byte(1) >= 0x90 && byte(1) <= 0xBF
                        : lead == 0xF4 ? byte(1) >= 0x80 && byte(1) <= 0x8F
                                       : tail(1);
    return second && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_text(std::string_view text) {
  while (!text.empty()) {
    const size_t size = character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string fit(std::string_view text) {
  std::string fitted;
  while (!text.empty()) {
    const size_t size = character(text);
    if (fitted.size() + std::max<size_t>(size, 1) > kTextBytesMax) break;
    if (size == 0)
      fitted += '?';
    else
      fitted += text.substr(0, size);
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return fitted;
}

}  // namespace slipstream::wire
