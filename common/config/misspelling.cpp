#include "common/config/misspelling.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slipstream {
namespace {

// The "optimal string alignment" distance: the number of letters added, left out, replaced, or
// swapped with their neighbour.
size_t edit_distance(std::string_view a, std::string_view b) {
  // of[i][j]: the distance of the first i letters of a and the first j of b.
  std::vector<std::vector<size_t>> of(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        of[i][j] = i + j;
        continue;
      }
      of[i][j] = std::min({of[i - 1][j] + 1, of[i][j - 1] + 1, of[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) of[i][j] = std::min(of[i][j], of[i - 2][j - 2] + 1);
    }
  }
  return of[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view given, std::span<const std::string> known) {
  size_t least = std::max<size_t>(1, given.size() / 3) + 1;
  std::optional<std::string> nearest;
  for (const std::string& name : known) {
    if (const size_t distance = edit_distance(given, name); distance < least) {
      least = distance;
      nearest = name;
    }
  }
  if (nearest || given.empty()) return nearest;
  const auto begun = std::ranges::find_if(known, [&](const std::string& name) { return name.starts_with(given); });
  return begun == known.end() ? nearest : *begun;
}

std::string explain_command(std::string_view given, std::span<const std::string> commands) {
  const auto meant = nearest_name(given, commands);
  return fmt::format("there is no command \"{}\"; {}", given,
                     meant ? fmt::format("did you mean {}?", *meant) : fmt::format("there are {}", fmt::join(commands, ", ")));
}

std::vector<std::string> explain_strays(const std::vector<std::string>& words, std::span<const std::string> flags,
                                        std::span<const SectionFlags> sections) {
  std::vector<std::string> sentences;
  bool may_be_value = false;  // the next word may be the value of the unknown flag before it
  for (const std::string& word : words) {
    if (!word.starts_with("-")) {
      if (!may_be_value) sentences.push_back(fmt::format("\"{}\" belongs to no flag", word));
      may_be_value = false;
      continue;
    }
    const std::string flag = word.substr(0, word.find('='));
    const std::string name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
    const auto elsewhere = std::ranges::find_if(
        sections, [&](const SectionFlags& section) { return std::ranges::count(section.flags, name) > 0; });
    if (elsewhere != sections.end()) {
      sentences.push_back(fmt::format("{} is a flag of the {}: write {} = ... below [{}] in a file, and give that to --config",
                                      flag, elsewhere->section, name, elsewhere->section));
    } else {
      const auto meant = nearest_name(name, flags);
      sentences.push_back(fmt::format("there is no flag {}{}", flag, meant ? fmt::format("; did you mean --{}?", *meant) : ""));
    }
    may_be_value = flag == word;
  }
  return sentences;
}

}  // namespace slipstream
