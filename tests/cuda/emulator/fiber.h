// A fiber: a stack of its own that runs until it gives way. It is started by ucontext, and switched
// by setjmp and longjmp, which make no system call.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <memory>

#include <ucontext.h>

namespace slipstream::emulator {

class Fiber {
 public:
  explicit Fiber(void (*run)()) : run_(run), stack_(new std::byte[kStackBytes]) { renew(); }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume();    // runs it until it gives way. Called by no fiber
  void give_way();  // called by the fiber itself: resume() returns
  void renew();     // forgets where it was: the next resume() calls `run`, which never returns
  bool owns(const void* address, size_t bytes) const;  // whether that is in its stack

 private:
  static constexpr size_t kStackBytes = 64 * 1024;
  void (*run_)();
  std::unique_ptr<std::byte[]> stack_;
  ucontext_t start_{};
  jmp_buf own_{}, callers_{};
  bool fresh_ = true;
};

}  // namespace slipstream::emulator
