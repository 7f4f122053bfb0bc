// Says where and why a text is not JSON, for the person who wrote it. Pure.
#pragma once

#include <string>
#include <string_view>

namespace slipstream {

// Such as "line 3, column 7: syntax error while parsing object key - invalid literal; ...". Lines
// and columns count from 1, columns in bytes. `otherwise`: given back if the text is JSON for a
// parser that is not as strict as the one which refused it.
std::string explain_bad_json(std::string_view text, std::string_view otherwise);

}  // namespace slipstream
