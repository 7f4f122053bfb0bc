#include "common/config/setting_line.h"

#include <algorithm>

namespace slipstream {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == text.npos ? "" : text.substr(begin, end - begin + 1);
}

// Where the value of a line begins, behind its sign; npos: it has no sign.
size_t value_at(std::string_view line) {
  const size_t sign = line.find('=');
  return sign < line.find('#') ? sign + 1 : line.npos;
}

// Of a line without a sign, which may also be a line of a list, the key is not quoted.
std::string_view key_of(std::string_view line) {
  std::string_view key = trimmed(line.substr(0, line.find_first_of("=#")));
  const bool quoted = key.size() >= 2 && (key.front() == '"' || key.front() == '\'') && key.back() == key.front();
  return quoted && value_at(line) != line.npos ? key.substr(1, key.size() - 2) : key;
}

bool has_value(std::string_view line) {
  const std::string_view value = trimmed(line.substr(std::min(value_at(line), line.size())));
  return !value.empty() && value.front() != '#';
}

}  // namespace

std::optional<SettingLine> line_of_setting(std::istream& file, std::string_view section, std::string_view name) {
  const std::string whole = section.empty() ? std::string(name) : std::string(section) + "." + std::string(name);
  std::string in;  // this section
  std::optional<SettingLine> found;
  int number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    const std::string_view line = trimmed(text);
    if (line.starts_with('[') && line.find(']') != line.npos) {
      in = trimmed(line.substr(1, line.find(']') - 1));
    } else if (in.empty() ? key_of(line) == whole : in == section && key_of(line) == name) {
      found = SettingLine{number, has_value(line)};
    }
  }
  return found;
}

std::string settings_text(std::istream& file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string settings;
  for (std::string text; std::getline(file, text); settings += '\n') {
    std::string_view line = text;
    if (settings.empty() && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    const size_t end = line.find(']');
    const bool header = trimmed(line).starts_with('[') && end != line.npos;
    settings += header && trimmed(line.substr(end + 1)).starts_with('#') ? line.substr(0, end + 1) : line;
  }
  return settings;
}

}  // namespace slipstream
