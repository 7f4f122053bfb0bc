// The letters of ASCII without their case, as protocols compare schemes, host names and words. All
// other bytes stay what they are. Pure.
#pragma once

#include <algorithm>
#include <string_view>

namespace slipstream {

constexpr char small_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// word: in small letters.
constexpr bool is_but_for_case(std::string_view text, std::string_view word) {
  return std::ranges::equal(text, word, {}, small_letter);
}

}  // namespace slipstream
