// Finds a setting in a file, for those who shall mend it: the parser does not tell the line.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace slipstream {

struct SettingLine {
  int number = 0;         // from 1
  bool has_value = true;  // else it is `name` or `name =` alone
};

// The line of `name = ...` below [section], or of `section.name = ...` before all sections; the
// last one, if there are several. section: "": before all sections. nullopt: there is none in these
// forms.
std::optional<SettingLine> line_of_setting(std::istream& file, std::string_view section, std::string_view name);

// The file as CLI11 understands it: it takes a comment behind [section] for a part of the name, and
// a byte-order mark for one of the first. Lines stay where they are.
std::string settings_text(std::istream& file);

}  // namespace slipstream
