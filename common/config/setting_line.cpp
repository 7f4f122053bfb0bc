#include "common/config/setting_line.h"

#include <string>

namespace slipstream {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == text.npos ? "" : text.substr(begin, end - begin + 1);
}

// A key may be quoted.
std::string_view key_of(std::string_view line) {
  std::string_view key = trimmed(line.substr(0, line.find('=')));
  if (key.size() >= 2 && (key.front() == '"' || key.front() == '\'') && key.back() == key.front())
    key = key.substr(1, key.size() - 2);
  return key;
}

}  // namespace

std::optional<int> line_of_setting(std::istream& file, std::string_view section, std::string_view name) {
  const std::string whole = section.empty() ? std::string(name) : std::string(section) + "." + std::string(name);
  std::string in;  // this section
  std::optional<int> found;
  int number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    const std::string_view line = trimmed(text);
    if (line.starts_with('[') && line.find(']') != line.npos) {
      in = trimmed(line.substr(1, line.find(']') - 1));
    } else if (line.find('=') != line.npos && (in.empty() ? key_of(line) == whole : in == section && key_of(line) == name)) {
      found = number;
    }
  }
  return found;
}

}  // namespace slipstream
