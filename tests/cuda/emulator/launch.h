// A launch that runs: its blocks, their threads as fibers, their warps and their shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/cuda/emulator/cuda_emulator.h"
#include "tests/cuda/emulator/fiber.h"
#include "tests/cuda/emulator/memory.h"

namespace slipstream::emulator {

// One thread of the block. It waits while its warp's or its block's count is the one it came with.
struct Thread {
  std::unique_ptr<Fiber> fiber;
  enum class State : uint8_t { ready, in_exchange, at_barrier, ended } state = State::ended;
  uint64_t came_with = 0;
};

// A lane's words of the matrices of a product.
struct Fragments {
  uint32_t a[4], b[2];
};

// The lanes of a warp bring values to an exchange. Values of two exchanges are kept, as a lane may
// bring its next one before another lane has read the last ones.
struct WarpState {
  uint64_t values[2][32] = {};
  Fragments fragments[2][32] = {};
  uint64_t exchanges = 0;
  uint32_t arrived = 0, barriers = 0;
  Exchange what = Exchange::barrier;
};

// All launches: the fibers are kept from one to the next. One thread of the host at a time.
class Launcher {
 public:
  int run(const Job& job, dim3 grid, dim3 block);
  bool in_kernel() const { return current_ >= 0; }

  // Called by the running thread of a kernel.
  dim3 thread_index() const;
  dim3 block_index() const { return block_; }
  dim3 block_size() const { return size_; }
  dim3 grid_size() const { return grid_; }
  void* shared_memory(const void* key, size_t bytes);
  uint64_t exchange(Exchange what, uint32_t lanes, uint64_t value, uint32_t from);
  using NumberOf = float (*)(uint16_t bits);
  void product(float (&d)[4], const Fragments& own, NumberOf number_of);
  void barrier();
  uint64_t atomic_add(void* address, size_t bytes, uint64_t value);
  void touch(Touch how, const void* address, size_t bytes);
  [[noreturn]] void fail(std::string what);  // ends the launch

  std::string fault;
  uint32_t seed = 1;
  bool checks = true;  // of memory

 private:
  struct Shared {
    const void* key;
    std::vector<uint64_t> words;
  };
  static void run_thread();
  bool run_block();
  bool ready(const Thread& thread, size_t index) const;
  void give_way(Thread::State state, uint64_t came_with);
  std::string stuck() const;
  size_t threads() const { return size_t{size_.x} * size_.y * size_.z; }

  Job job_;
  dim3 grid_, size_, block_;
  uint64_t block_number_ = 0, first_block_ = 0;  // of all launches; of this one
  std::vector<Thread> threads_;
  std::vector<WarpState> warps_;
  std::vector<std::unique_ptr<Shared>> shared_;
  uint64_t barriers_ = 0;
  size_t arrived_ = 0;
  int current_ = -1;  // the thread that runs
  std::mt19937 order_;
};

Launcher& launcher();

}  // namespace slipstream::emulator
