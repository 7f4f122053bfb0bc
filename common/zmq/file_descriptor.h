// An eventfd or timerfd that ends with its owner.
#pragma once

#include <unistd.h>

#include <cstdint>

#include "common/base/check.h"

namespace slipstream {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) { CHECK(fd >= 0, "no file descriptor: raise the limit of open files"); }
  ~FileDescriptor() { ::close(fd_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  void clear() const {
    uint64_t count = 0;
    [[maybe_unused]] const auto size = ::read(fd_, &count, sizeof count);  // non-blocking; nothing there is fine
  }

 private:
  int fd_;
};

}  // namespace slipstream
