// Says where and why a text is not JSON, for the person who wrote it. Pure.
#pragma once

#include <string>
#include <string_view>

namespace slipstream {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors write it before a text (RFC 8259, 8.1)

struct JsonFault {
  // Such as "line 3, column 7: syntax error while parsing object key - invalid literal; ...". Lines
  // and columns count from 1, columns in bytes. Of a number that is too large: the number.
  std::string what;
  bool too_large = false;  // it is JSON, with a number that is neither a 64-bit integer nor a double
  std::string field = {};  // of the outermost object, with that number; "": none
};

// REQUIRES: simdjson refused the text. `otherwise`: what is told if no fault is found.
JsonFault find_json_fault(std::string_view text, std::string_view otherwise);

}  // namespace slipstream
