// The names of keys begin with the role of those who have them: router, verifier, drafter; "drafter", "drafter-2".
#pragma once

#include <string_view>

namespace slipstream {

inline constexpr std::string_view kRoles[] = {"router", "verifier", "drafter"};

// key_is_of("drafter-2", "drafter")
inline bool key_is_of(std::string_view name, std::string_view role) {
  return name.starts_with(role) && (name.size() == role.size() || name[role.size()] == '-');
}

}  // namespace slipstream
