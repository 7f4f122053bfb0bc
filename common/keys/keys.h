// What a process needs to prove who it is and to know the others: its own key pair and the enrolled
// public ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/keys/enrolled.h"
#include "common/keys/key_file.h"

namespace slipstream {

struct Keys {
  std::string name;  // of its own key, as it is enrolled
  KeyPair own;
  Enrolled enrolled;

  // The key's name, added to an endpoint whose owner has it: tcp://10.0.0.7:7300#router.
  std::string named(const std::string& endpoint) const { return endpoint + "#" + name; }
};

// From --key and --peers; both empty: none. The own key must be enrolled, as one of this role.
Result<std::optional<Keys>> open_keys(const std::string& key_file, const std::string& peers_folder, std::string_view role);

// Routers' endpoints, each with the name of its key: as given behind #, or that of the only router
// that is enrolled.
Result<std::vector<std::string>> with_router_keys(std::vector<std::string> endpoints, const std::optional<Keys>& keys);

}  // namespace slipstream
