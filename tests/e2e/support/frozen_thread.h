// Holds one thread of another process still, while its other threads run: a compute thread that
// hangs, as far as anybody can tell from outside.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

namespace slipstream::e2e {

// Use one on a single thread: the kernel lets nobody else release it.
class FrozenThread {
 public:
  // Empty: this machine forbids to trace processes. REQUIRES: process `pid` has a thread of this
  // name, and descends from this one.
  static std::optional<FrozenThread> of(pid_t pid, std::string_view name);
  FrozenThread(FrozenThread&& from) noexcept;
  FrozenThread& operator=(FrozenThread&&) = delete;
  ~FrozenThread();  // lets it run on

 private:
  explicit FrozenThread(pid_t thread) : thread_(thread) {}

  pid_t thread_;
};

}  // namespace slipstream::e2e
