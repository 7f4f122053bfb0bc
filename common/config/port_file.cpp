#include "common/config/port_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>
#include <nlohmann/json.hpp>

namespace slipstream {

Result<void> write_port_file(const std::string& path, BoundAddresses bound) {
  if (path.empty()) return {};
  nlohmann::ordered_json page;
  page["pid"] = ::getpid();
  for (const auto& [name, address] : bound) page[std::string(name)] = address;

  std::error_code ignored;
  if (const auto there = std::filesystem::status(path, ignored); exists(there) && !is_regular_file(there)) {
    return fail("{} is no file that a port file could replace: name another one", path);
  }
  const std::string beside = fmt::format("{}.{}.new", path, ::getpid());
  std::ofstream file(beside);
  file << page.dump(2) << '\n';
  file.close();
  if (!file) return fail("cannot write {} ({}); is its folder there and writable?", beside, std::strerror(errno));
  std::error_code error;
  std::filesystem::rename(beside, path, error);
  if (error) return fail("cannot put {} in place ({})", path, error.message());
  return {};
}

}  // namespace slipstream
