// Owns an eventfd or a timerfd and closes it.
#pragma once

#include <unistd.h>

#include <cstdint>

#include "common/base/check.h"

namespace slipstream {

class FileDescriptor {
 public:
  // REQUIRES: fd >= 0.
  explicit FileDescriptor(int fd) : fd_(fd) { CHECK(fd >= 0, "no file descriptor: raise the limit of open files"); }
  ~FileDescriptor() { ::close(fd_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  // Resets the descriptor's counter, so that it is not readable any more. Never blocks, as both
  // kinds are opened non-blocking.
  void clear() const {
    uint64_t count = 0;
    [[maybe_unused]] const auto size = ::read(fd_, &count, sizeof count);  // EAGAIN is fine: it was clear already
  }

 private:
  int fd_;
};

}  // namespace slipstream
