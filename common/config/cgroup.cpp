#include "common/config/cgroup.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace slipstream {
namespace {

// The smallest limit of `group` and of all groups above it, up to the mount. Inside a container
// /proc/self/cgroup often shows the host's path, which does not exist here; groups that cannot be
// read count as having no limit, and the mount itself is then the container's own group.
double smallest(const std::filesystem::path& mount, const std::string& group, ReadGroup read) {
  double least = kNoLimit;
  for (std::filesystem::path at = std::filesystem::path(group).relative_path(); !at.empty(); at = at.parent_path()) {
    least = std::min(least, read(mount / at));
  }
  return std::min(least, read(mount));
}

bool lists(const std::string& controllers, std::string_view controller) {
  return ("," + controllers + ",").find("," + std::string(controller) + ",") != std::string::npos;
}

}  // namespace

double cgroup_limit(const std::filesystem::path& root, std::string_view controller, ReadGroup v2, ReadGroup v1) {
  const std::filesystem::path mount = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  double least = kNoLimit;
  std::string line;  // "number:controllers:path"; v2 has no controllers
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    // A hybrid system has both versions, v2 below "unified". v1 mounts a controller under its own
    // name or under the names of all that share its hierarchy ("cpu,cpuacct").
    if (controllers.empty()) {
      least = std::min({least, smallest(mount, group, v2), smallest(mount / "unified", group, v2)});
    } else if (lists(controllers, controller)) {
      least = std::min({least, smallest(mount / controller, group, v1), smallest(mount / controllers, group, v1)});
    }
  }
  return least;
}

}  // namespace slipstream
