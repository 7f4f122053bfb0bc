// What the emulator knows of memory: which bytes a kernel may touch, and who touched them last.
//
// A fault is one of
//   1. an access that lies in no array, not even by one byte
//   2. a write to an array that is input
//   3. a read of a number that nobody wrote
//   4. a race: two threads touch one address, at least one of them writes, not both atomically, and no
//      barrier stands between them
//
// Between threads of one block a barrier is __syncthreads, and within a warp __syncwarp as well.
// Nothing stands between two blocks of one launch. A granule remembers its last write and two of
// the threads that read it since, so a race with a third reader may stay unseen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace slipstream::emulator {

enum class Touch : uint8_t { read, write, atomic };

// Who touches memory, and how many barriers it has passed.
struct Toucher {
  uint64_t block = 0;  // a number that no other block of any launch has
  int32_t thread = -1;
  uint32_t barriers = 0, warp_barriers = 0;
  bool atomic = false;
};

// The smallest part of an array that is watched on its own.
struct Granule {
  Toucher write, reads[2];
};

// An array of global memory, or a block's struct of shared memory.
struct Region {
  std::string name;
  const std::byte* begin = nullptr;
  size_t bytes = 0, granule_bytes = 1;
  bool input = false;   // never written by a kernel
  bool shared = false;  // its content is gone when its block ends
  std::vector<Granule> granules;
};

// The regions that exist. One launch at a time uses it.
class Memory {
 public:
  Region& add(Region region);  // stays at its address until it is removed
  void remove(const std::byte* begin);
  // Notes that somebody touches [address, address + bytes). Returns what is wrong with that, or
  // nothing. first_block: the lowest block of this launch.
  std::string touch(const Toucher& who, Touch how, const void* address, size_t bytes, uint64_t first_block);

 private:
  std::string outside(const std::byte* address, size_t bytes) const;
  std::vector<Region*> regions_;
  Region* last_ = nullptr;  // where the last access was
};

Memory& memory();  // of the device

}  // namespace slipstream::emulator
