#include "common/config/port_file.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/base/write_whole.h"

namespace slipstream {

Result<void> write_port_file(const std::string& path, BoundAddresses bound) {
  if (path.empty()) return {};
  nlohmann::ordered_json page;
  page["pid"] = getpid();
  for (const auto& [name, address] : bound) page[std::string(name)] = address;
  return replace_whole(path, page.dump(2) + '\n', "the port file");
}

}  // namespace slipstream
