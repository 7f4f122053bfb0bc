#include "common/config/port_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <nlohmann/json.hpp>

#include "common/base/write_whole.h"

namespace slipstream {

Result<void> write_port_file(const std::string& path, BoundAddresses bound) {
  if (path.empty()) return {};
  nlohmann::ordered_json page;
  page["pid"] = getpid();
  for (const auto& [name, address] : bound) page[std::string(name)] = address;
  const std::string text = page.dump(2) + '\n';

  // rename() would replace a device such as /dev/null by a regular file.
  struct stat there{};
  if (stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return fail("{} is no file that a port file could replace: name another one", path);
  }
  const std::string beside = fmt::format("{}.{}.new", path, getpid());
  int error = write_whole(beside, O_CREAT | O_TRUNC, text);
  if (error == 0 && std::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(beside.c_str());
  return fail("cannot write the port file {}: {}", path, std::strerror(error));
}

}  // namespace slipstream
