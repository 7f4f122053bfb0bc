#include "tests/cuda/emulator/fiber.h"

namespace slipstream::emulator {

void Fiber::renew() {
  getcontext(&start_);
  start_.uc_stack.ss_sp = stack_.get();
  start_.uc_stack.ss_size = kStackBytes;
  start_.uc_link = nullptr;
  makecontext(&start_, run_, 0);
  fresh_ = true;
}

[[gnu::noinline]] void Fiber::resume() {
  if (_setjmp(callers_) != 0) return;
  if (!fresh_) _longjmp(own_, 1);
  fresh_ = false;
  setcontext(&start_);
}

[[gnu::noinline]] void Fiber::give_way() {
  if (_setjmp(own_) == 0) _longjmp(callers_, 1);
}

bool Fiber::owns(const void* address, size_t bytes) const {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= stack_.get() && at + bytes <= stack_.get() + kStackBytes;
}

}  // namespace slipstream::emulator
