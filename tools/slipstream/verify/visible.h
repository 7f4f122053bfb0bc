// Text that nobody can mistake: a model's words as they may stand in a report.
#pragma once

#include <string>
#include <string_view>

namespace slipstream::command::verify {

std::string visible(std::string_view text);  // on one line: \n, \t, \\ and \x07 written out
std::string quoted(std::string_view text);   // the same between quotes
std::string html_escaped(std::string_view text);
std::string markdown_escaped(std::string_view text);

}  // namespace slipstream::command::verify
