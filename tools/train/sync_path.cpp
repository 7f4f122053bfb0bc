#include "tools/train/sync_path.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace slipstream::train {

int sync_path(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  return error;
}

}  // namespace slipstream::train
