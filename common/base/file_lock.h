// A file that one process at a time may use, as all agree who ask for the lock first.
//
// The lock is on NAME.lock beside the file, which is made if it is absent, stays empty and is never
// removed: so it holds while the file itself is replaced (write_whole.h), and two who make it at
// once make one. The kernel gives it back when its holder ends, however that happens.
//
//   TRY(const FileLock lock, FileLock::take("answers"));  // held until `lock` is destroyed
//
// Movable; not to be used by several threads at once.
#pragma once

#include <string>
#include <utility>

#include "common/base/result.h"

namespace slipstream {

class FileLock {
 public:
  // Error: another lock object holds it, of this process or of another ("a process that runs uses
  // it"), or NAME.lock cannot be opened. It does not name the file.
  static Result<FileLock> take(const std::string& file);
  // Whether take() would give that first error now. Takes nothing, makes nothing, and so disturbs
  // no process that takes it at this moment.
  static bool is_held(const std::string& file);

  FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;  // of NAME.lock; -1: moved from
};

}  // namespace slipstream
