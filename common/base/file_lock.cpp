#include "common/base/file_lock.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace slipstream {
namespace {

constexpr mode_t kOwnerOnly = 0600;

std::string lock_of(const std::string& file) { return file + ".lock"; }

// The whole of the lock file, for writing. l_pid stays 0, as locks of file descriptions want it:
// theirs belong to an open file, not to a process, so that two objects of one process exclude each
// other, and one who closes another descriptor of the lock file gives up nothing.
struct flock whole_file() {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

}  // namespace

Result<FileLock> FileLock::take(const std::string& file) {
  const std::string name = lock_of(file);
  const int descriptor = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly);
  if (descriptor < 0) return fail("its lock {} cannot be opened: {}", name, std::strerror(errno));
  FileLock lock(descriptor);
  struct flock whole = whole_file();
  if (fcntl(descriptor, F_OFD_SETLK, &whole) == 0) return lock;
  if (errno == EAGAIN || errno == EACCES) return fail_for_now("a process that runs uses it (it holds {})", name);
  return fail("{} cannot be locked: {}", name, std::strerror(errno));
}

bool FileLock::is_held(const std::string& file) {
  const int descriptor = open(lock_of(file).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock whole = whole_file();
  const bool held = fcntl(descriptor, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
  close(descriptor);
  return held;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace slipstream
