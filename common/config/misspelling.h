// Suggestions for names that a user has misspelt: flags, settings, commands.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipstream {

// The known name that the user may have meant:
//   1. the one with the least edit distance (letters added, left out, replaced, or swapped with
//      their neighbour), if that is at most max(1, length of `given` / 3);
//   2. else the first name that begins with `given` ("lease" for "lease-ms");
//   3. else nullopt.
std::optional<std::string> nearest_name(std::string_view given, std::span<const std::string> known);

// A sentence for a word that is no command; it suggests one, or lists all.
std::string explain_command(std::string_view given, std::span<const std::string> commands);

// Settings of another program, which a section of our file of settings passes on to it.
struct SectionFlags {
  std::string section;             // "verifier"
  std::vector<std::string> flags;  // without dashes
};

// Explains the words of a command line that the parser did not take: a sentence for each unknown
// flag, and one for each word that belongs to no flag.
//
// flags: the known ones, without dashes. sections: where a flag may belong instead.
std::vector<std::string> explain_strays(const std::vector<std::string>& words, std::span<const std::string> flags,
                                        std::span<const SectionFlags> sections = {});

}  // namespace slipstream
