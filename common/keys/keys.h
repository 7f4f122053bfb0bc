// The keys of a process: its own key pair, which proves its identity, and the enrolled public keys
// of the processes that it may speak with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/keys/enrolled.h"
#include "common/keys/key_file.h"

namespace slipstream {

struct Keys {
  std::string name;  // under which its own key is enrolled
  KeyPair own;
  Enrolled enrolled;

  // An endpoint of this process with the name of its key: tcp://10.0.0.7:7300#router.
  std::string named(const std::string& endpoint) const { return endpoint + "#" + name; }
};

// Opens the keys that --key and --peers name. Returns nullopt if both are empty. REQUIRES: both or
// neither are given (Problems::keys checks it).
//
// Errors: those of read_key_file() and Enrolled::read(); the own key is not enrolled, or is
// enrolled under the name of another role.
Result<std::optional<Keys>> open_keys(const std::string& key_file, const std::string& peers_folder, std::string_view role);

// Adds #NAME, the name of the router's key, to each endpoint that lacks it. Without keys the
// endpoints stay as they are.
//
// Errors: an endpoint lacks a name and the number of enrolled routers is not 1; or no router's key
// is enrolled under the given name.
Result<std::vector<std::string>> with_router_keys(std::vector<std::string> endpoints, const std::optional<Keys>& keys);

}  // namespace slipstream
