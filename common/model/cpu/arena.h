// Allocates memory for weights, caches and buffers: zeroed, aligned to 64 bytes, and freed with the
// arena. It asks for huge pages, because a forward pass streams through all weights. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <vector>

#include "common/base/result.h"

namespace slipstream {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  Result<void*> take(size_t bytes);  // an error if the machine does not have that much memory
  template <class T>
  Result<T*> array(size_t count) {
    TRY(void* start, take(count * sizeof(T)));
    return static_cast<T*>(start);
  }

 private:
  struct Chunk {
    std::byte* start;
    size_t bytes;
  };
  std::vector<Chunk> chunks_;
  size_t used_ = 0;   // bytes of the last chunk
  size_t taken_ = 0;  // bytes of all chunks
};

}  // namespace slipstream
