#include "tests/unit/common/sampling/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<uint64_t> count = 0;

// Apart from their callers, for a compiler that sees both ends takes free() for a mistake.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++count;
  return std::malloc(size);
}
void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

uint64_t slipstream::allocations() { return count; }
