#include "common/base/write_whole.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace slipstream {

int write_whole(const std::string& path, int flags, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644);
  if (file < 0) return errno;
  int error = 0;
  // write() may take a part of the text only. The next call then takes more, or gives the error.
  while (error == 0 && !text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0) {
      error = errno;
    } else {
      text.remove_prefix(static_cast<size_t>(written));
    }
  }
  // Some file systems report a failed write at close() only.
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace slipstream
