#include "common/base/write_whole.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace slipstream {

int write_whole(const std::string& path, int flags, std::string_view text, mode_t mode) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, mode);
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

Result<void> replace_whole(const std::string& path, std::string_view text, std::string_view what, mode_t mode) {
  // rename() would replace a device such as /dev/null by a regular file.
  struct stat there{};
  if (stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return fail("{} is no file that {} could replace: name another one", path, what);
  }
  const std::string beside = fmt::format("{}.{}.new", path, getpid());
  unlink(beside.c_str());  // left by a killed process of the same number; it may have another mode
  int error = write_whole(beside, O_CREAT | O_EXCL, text, mode);
  if (error == 0 && std::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(beside.c_str());
  return fail("cannot write {} {}: {}", what, path, std::strerror(error));
}

}  // namespace slipstream
