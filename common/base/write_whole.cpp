#include "common/base/write_whole.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace slipstream {

int write_whole(const std::string& path, int flags, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644);
  if (file < 0) return errno;
  int error = 0;
  while (error == 0 && !text.empty()) {  // a part may go, and the next call says why not the rest
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0) {
      error = errno;
    } else {
      text.remove_prefix(static_cast<size_t>(written));
    }
  }
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace slipstream
