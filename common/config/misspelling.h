// What somebody may have meant who wrote a name that is none.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipstream {

// The known name nearest to `given`: by as few letters added, left out, replaced or swapped with
// their neighbour as a third of those given, at least one; or the first of which `given` is the
// beginning ("lease" of "lease-ms"). nullopt: none is near.
std::optional<std::string> nearest_name(std::string_view given, std::span<const std::string> known);

// A sentence for a word where a command was expected.
std::string explain_command(std::string_view given, std::span<const std::string> commands);

// A sentence for each flag of a command line that no program takes, and for each word that belongs
// to none. `flags`: those there are, without their dashes.
std::vector<std::string> explain_strays(const std::vector<std::string>& words, std::span<const std::string> flags);

}  // namespace slipstream
