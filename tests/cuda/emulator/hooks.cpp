// The functions that code compiled with -fsanitize=thread,bounds-strict calls before each access to
// memory, and at an index outside of an array. GCC's own libraries for them are not linked: these
// are ours. The names and arguments are those of GCC's tsan.cc and ubsan.cc.
#include <cstdint>

#include <fmt/format.h>

#include "tests/cuda/emulator/launch.h"

namespace {

using slipstream::emulator::launcher;
using slipstream::emulator::Touch;

void touch(Touch how, const void* address, uint64_t bytes) {
  if (launcher().in_kernel()) launcher().touch(how, address, bytes);
}

}  // namespace

extern "C" {

#define SLIPSTREAM_ACCESS(bytes)                                                 \
  void __tsan_read##bytes(void* at) { touch(Touch::read, at, bytes); }           \
  void __tsan_write##bytes(void* at) { touch(Touch::write, at, bytes); }         \
  void __tsan_unaligned_read##bytes(void* at) { touch(Touch::read, at, bytes); } \
  void __tsan_unaligned_write##bytes(void* at) { touch(Touch::write, at, bytes); }
SLIPSTREAM_ACCESS(1)
SLIPSTREAM_ACCESS(2)
SLIPSTREAM_ACCESS(4)
SLIPSTREAM_ACCESS(8)
SLIPSTREAM_ACCESS(16)
void __tsan_read_range(void* at, uint64_t bytes) { touch(Touch::read, at, bytes); }
void __tsan_write_range(void* at, uint64_t bytes) { touch(Touch::write, at, bytes); }
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

struct Place {
  const char* file;
  uint32_t line, column;
};
[[noreturn]] void __ubsan_handle_out_of_bounds_abort(const Place* place, uintptr_t index) {
  launcher().fail(fmt::format("out of bounds: index {} of an array, in line {} of {}", static_cast<intptr_t>(index),
                              place->line, place->file));
}
}
