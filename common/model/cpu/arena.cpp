#include "common/model/cpu/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace slipstream {
namespace {

constexpr size_t kAlignBytes = 64;
constexpr size_t kChunkBytes = size_t{64} << 20;  // of address space

constexpr size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

size_t machine_bytes() { return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

Arena::~Arena() {
  for (const Chunk& chunk : chunks_) munmap(chunk.start, chunk.bytes);
}

Result<void*> Arena::take(size_t bytes) {
  bytes = round_up(bytes, kAlignBytes);
  // mmap reserves address space and succeeds; memory comes with the first touch, where a lack of it
  // kills the process. So compare with the machine's memory now.
  if (const size_t most = machine_bytes(); taken_ + bytes > most) {
    return fail("{} MB of memory cannot be had (this machine has {}): use a smaller model or a smaller cache",
                (taken_ + bytes) >> 20, most >> 20);
  }
  if (chunks_.empty() || chunks_.back().bytes - used_ < bytes) {
    const size_t size = std::max(kChunkBytes, bytes);
    void* start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
      return fail("{} MB of memory cannot be had ({}): use a smaller model or a smaller cache", size >> 20,
                  std::strerror(errno));
    }
    madvise(start, size, MADV_HUGEPAGE);  // a hint; if the kernel refuses, everything works more slowly
    chunks_.push_back({static_cast<std::byte*>(start), size});
    used_ = 0;
  }
  void* start = chunks_.back().start + used_;
  used_ += bytes;
  taken_ += bytes;
  return start;
}

}  // namespace slipstream
