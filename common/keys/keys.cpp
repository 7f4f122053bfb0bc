#include "common/keys/keys.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slipstream {

Result<std::optional<Keys>> open_keys(const std::string& key_file, const std::string& peers_folder, std::string_view role) {
  if (key_file.empty() && peers_folder.empty()) return std::nullopt;
  Keys keys;
  TRY(keys.own, read_key_file(key_file));
  TRY(keys.enrolled, Enrolled::read(peers_folder));
  // The process's name comes from the folder, which is the same on all machines: a key that is not
  // in it here is most likely not in it elsewhere either, and the others would refuse this process.
  const std::string* name = keys.enrolled.name_of(keys.own.public_key);
  if (name == nullptr) {
    return fail("the key {} is not among those enrolled in {}: copy its .pub file there, for all processes of the cluster",
                key_file, peers_folder);
  }
  if (!key_is_of(*name, role)) {
    return fail("{} is the key of {}, and this process is a {}: give it its own", key_file, *name, role);
  }
  keys.name = *name;
  return keys;
}

Result<std::vector<std::string>> with_router_keys(std::vector<std::string> endpoints, const std::optional<Keys>& keys) {
  if (!keys) return endpoints;
  // CURVE needs the server's public key before the first byte, so each endpoint must name a key.
  const std::vector<std::string> routers = keys->enrolled.names_of("router");
  for (std::string& endpoint : endpoints) {
    const size_t mark = endpoint.find('#');
    if (mark == std::string::npos) {
      if (routers.size() != 1) {
        return fail("--router {}: {} router keys are enrolled in {}; say which it has, as in {}#router-2", endpoint,
                    routers.size(), keys->enrolled.folder().string(), endpoint);
      }
      endpoint += "#" + routers.front();
    } else if (const std::string name = endpoint.substr(mark + 1);
               keys->enrolled.key_of(name) == nullptr || !key_is_of(name, "router")) {
      return fail("--router {}: no router key of the name {} is enrolled in {}; there are: {}", endpoint, name,
                  keys->enrolled.folder().string(), fmt::join(routers, ", "));
    }
  }
  return endpoints;
}

}  // namespace slipstream
