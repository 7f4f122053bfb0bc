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
namespace {

// Over what is there, with blanks to its end: this takes no room on the disk, and no reader finds half of each.
int overwrite(const std::string& path, size_t size, std::string text) {
  if (text.size() < size) text.insert(text.size() - 1, size - text.size(), ' ');
  return write_whole(path, 0, text);
}

}  // namespace

Result<void> write_port_file(const std::string& path, BoundAddresses bound) {
  if (path.empty()) return {};
  nlohmann::ordered_json page;
  page["pid"] = getpid();
  for (const auto& [name, address] : bound) page[std::string(name)] = address;
  const std::string text = page.dump(2) + '\n';

  struct stat there{};
  const bool exists = stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) return fail("{} is no file that a port file could replace: name another one", path);
  const std::string beside = fmt::format("{}.{}.new", path, getpid());
  int error = write_whole(beside, O_CREAT | O_TRUNC, text);
  if (error == 0 && std::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(beside.c_str());
  if (exists && overwrite(path, static_cast<size_t>(there.st_size), text) == 0) return {};
  return fail("cannot write the port file {} ({}): {}", path, std::strerror(error), way_out(error));
}

}  // namespace slipstream
