#include "tests/cuda/emulator/launch.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "kernels/exact/half.h"
#include "tests/cuda/emulator/faults.h"

// The first and the last byte of this program, by the linker.
extern "C" const char __executable_start, _end;  // NOLINT

namespace slipstream::emulator {
namespace {

constexpr size_t kWarpThreads = 32;

dim3 nth(uint64_t index, dim3 size) {
  return {static_cast<unsigned>(index % size.x), static_cast<unsigned>(index / size.x % size.y),
          static_cast<unsigned>(index / size.x / size.y)};
}

// The lower or the upper half of a word.
uint16_t half(uint32_t word, size_t upper) { return static_cast<uint16_t>(upper == 0 ? word : word >> 16); }

bool inside(const void* address, size_t bytes, const void* begin, const void* end) {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= static_cast<const std::byte*>(begin) && at + bytes <= static_cast<const std::byte*>(end);
}

}  // namespace

Launcher& launcher() {
  static Launcher all;
  return all;
}

// Blocks run in an order drawn from the seed, as on a GPU none may wait for another.
int Launcher::run(const Job& job, dim3 grid, dim3 block) {
  job_ = job, grid_ = grid, size_ = block;
  if (threads() == 0 || threads() > 1024 || threads() % kWarpThreads != 0 || grid.x == 0 || grid.y == 0 || grid.z == 0) {
    fault = fmt::format("launch of {} x {} x {} blocks of {} threads: a block has 1 to 32 whole warps", grid.x, grid.y, grid.z,
                        threads());
    return 1;
  }
  while (threads_.size() < threads()) threads_.push_back({.fiber = std::make_unique<Fiber>(run_thread)});
  order_.seed(seed);
  first_block_ = block_number_ + 1;
  std::vector<uint64_t> blocks(uint64_t{grid.x} * grid.y * grid.z);
  std::iota(blocks.begin(), blocks.end(), 0);
  std::ranges::shuffle(blocks, order_);
  for (const uint64_t each : blocks) {
    block_ = nth(each, grid);
    ++block_number_;
    if (run_block()) continue;
    for (Thread& thread : threads_) thread.fiber->renew();
    return 1;
  }
  return 0;
}

// Runs each thread until it waits, again and again until all have ended. False: there was a fault.
bool Launcher::run_block() {
  warps_.assign(threads() / kWarpThreads, {});
  barriers_ = arrived_ = 0;
  std::vector<int> order(threads());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, order_);
  for (const int each : order) threads_[static_cast<size_t>(each)].state = Thread::State::ready;
  for (size_t ended = 0; ended < threads();) {
    bool ran = false;
    for (const int each : order) {
      Thread& thread = threads_[static_cast<size_t>(each)];
      if (!ready(thread, static_cast<size_t>(each))) continue;
      ran = true;
      thread.state = Thread::State::ready;
      current_ = each;
      thread.fiber->resume();
      current_ = -1;
      if (!fault.empty()) return false;
      ended += thread.state == Thread::State::ended;
    }
    if (!ran) {
      fault = stuck();
      return false;
    }
  }
  return true;
}

// What each fiber runs: a kernel, and the next one when it is resumed after that.
void Launcher::run_thread() {
  for (;;) {
    launcher().job_.call(launcher().job_.kernel_and_arguments);
    launcher().give_way(Thread::State::ended, 0);
  }
}

bool Launcher::ready(const Thread& thread, size_t index) const {
  switch (thread.state) {
    case Thread::State::ready:
      return true;
    case Thread::State::in_exchange:
      return warps_[index / kWarpThreads].exchanges != thread.came_with;
    case Thread::State::at_barrier:
      return barriers_ != thread.came_with;
    case Thread::State::ended:
      return false;
  }
  return false;
}

void Launcher::give_way(Thread::State state, uint64_t came_with) {
  Thread& own = threads_[static_cast<size_t>(current_)];
  own.state = state;
  own.came_with = came_with;
  own.fiber->give_way();
}

std::string Launcher::stuck() const {
  const auto first = [&](Thread::State state) { return std::ranges::find(threads_, state, &Thread::state) - threads_.begin(); };
  const auto waits = std::min(first(Thread::State::at_barrier), first(Thread::State::in_exchange));
  return fmt::format("thread {} waits for threads that never come to its barrier", waits);
}

void Launcher::fail(std::string what) {
  fault = fmt::format("block ({}, {}, {}): {}", block_.x, block_.y, block_.z, what);
  what = {};
  for (;;) give_way(Thread::State::ended, 0);  // nobody resumes it
}

dim3 Launcher::thread_index() const { return nth(static_cast<uint64_t>(current_), size_); }

void* Launcher::shared_memory(const void* key, size_t bytes) {
  for (const auto& each : shared_) {
    if (each->key == key) return each->words.data();
  }
  Shared& made = *shared_.emplace_back(new Shared{key, std::vector<uint64_t>((bytes + 7) / 8)});
  memory().add({.name = "shared memory",
                .begin = reinterpret_cast<const std::byte*>(made.words.data()),
                .bytes = bytes,
                .granule_bytes = 2,
                .shared = true,
                .granules = {}});
  return made.words.data();
}

uint64_t Launcher::exchange(Exchange what, uint32_t lanes, uint64_t value, uint32_t from) {
  if (lanes != 0xFFFFFFFF) fail("an exchange without all lanes of its warp");
  WarpState& warp = warps_[static_cast<size_t>(current_) / kWarpThreads];
  if (warp.arrived > 0 && warp.what != what) fail("lanes of one warp are at different exchanges");
  const uint64_t number = warp.exchanges;
  warp.what = what;
  warp.values[number % 2][static_cast<size_t>(current_) % kWarpThreads] = value;
  if (++warp.arrived == kWarpThreads) {
    warp.arrived = 0;
    warp.barriers += what == Exchange::barrier;
    ++warp.exchanges;
  } else {
    give_way(Thread::State::in_exchange, number);
  }
  const auto& values = warp.values[number % 2];
  if (what != Exchange::ballot) return values[from];
  uint64_t set = 0;
  for (size_t lane = 0; lane < kWarpThreads; ++lane) set |= uint64_t{values[lane] != 0} << lane;
  return set;
}

void Launcher::product(float (&d)[4], const Fragments& own, NumberOf number_of) {
  WarpState& warp = warps_[static_cast<size_t>(current_) / kWarpThreads];
  const auto& all = warp.fragments[warp.exchanges % 2];
  const auto lane = static_cast<size_t>(current_) % kWarpThreads, group = lane / 4, place = lane % 4;
  warp.fragments[warp.exchanges % 2][lane] = own;
  exchange(Exchange::product, 0xFFFFFFFF, 0, 0);
  for (size_t i = 0; i < 4; ++i) {
    const size_t column = 2 * place + i % 2;
    for (size_t k = 0; k < 16; ++k) {
      const uint32_t a = all[4 * group + k % 8 / 2].a[i / 2 + k / 8 * 2], b = all[4 * column + k % 8 / 2].b[k / 8];
      d[i] += number_of(half(a, k % 2)) * number_of(half(b, k % 2));
    }
  }
}

void Launcher::barrier() {
  if (++arrived_ < threads()) return give_way(Thread::State::at_barrier, barriers_);
  arrived_ = 0;
  ++barriers_;
}

uint64_t Launcher::atomic_add(void* address, size_t bytes, uint64_t value) {
  touch(Touch::atomic, address, bytes);
  uint64_t old = 0;
  std::memcpy(&old, address, bytes);
  const uint64_t sum = old + value;
  std::memcpy(address, &sum, bytes);
  return old;
}

// A thread may touch its own stack, and read its kernel's arguments and the program's constants.
void Launcher::touch(Touch how, const void* address, size_t bytes) {
  if (!checks) return;
  const auto index = static_cast<size_t>(current_);
  if (threads_[index].fiber->owns(address, bytes)) return;
  if (how == Touch::read) {
    const auto* arguments = static_cast<const std::byte*>(job_.kernel_and_arguments);
    if (inside(address, bytes, arguments, arguments + job_.bytes)) return;
    if (inside(address, bytes, &__executable_start, &_end)) return;
  }
  const Toucher who{.block = block_number_,
                    .thread = current_,
                    .barriers = static_cast<uint32_t>(barriers_),
                    .warp_barriers = warps_[index / kWarpThreads].barriers};
  if (std::string wrong = memory().touch(who, how, address, bytes, first_block_); !wrong.empty()) fail(std::move(wrong));
}

dim3 thread_index() { return launcher().thread_index(); }
dim3 block_index() { return launcher().block_index(); }
dim3 block_size() { return launcher().block_size(); }
dim3 grid_size() { return launcher().grid_size(); }
void* shared_memory(const void* key, size_t bytes) { return launcher().shared_memory(key, bytes); }
uint64_t exchange(Exchange what, uint32_t lanes, uint64_t value, uint32_t from) {
  return launcher().exchange(what, lanes, value, from);
}
void mma_bf16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  launcher().product(d, {.a = {a[0], a[1], a[2], a[3]}, .b = {b0, b1}}, bf16_to_f32);
}
void mma_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  launcher().product(d, {.a = {a[0], a[1], a[2], a[3]}, .b = {b0, b1}}, f16_to_f32);
}
void block_barrier() { launcher().barrier(); }
uint64_t atomic_add(void* address, size_t bytes, uint64_t value) { return launcher().atomic_add(address, bytes, value); }
int launch(const Job& job, dim3 grid, dim3 block) { return launcher().run(job, grid, block); }

std::string take_fault() { return std::exchange(launcher().fault, {}); }
void set_seed(uint32_t seed) { launcher().seed = seed; }
void check_memory(bool on) { launcher().checks = on; }

}  // namespace slipstream::emulator
