// The emulator finds each kind of bug that it is there for, and nothing in kernels without one.
#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cuda/broken_kernels.h"
#include "tests/cuda/emulator/device_array.h"
#include "tests/cuda/emulator/faults.h"

namespace slipstream::cuda {
namespace {

using emulator::DeviceArray;
using emulator::take_fault;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int32_t kThreads = 64;

std::vector<float> rising(int32_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

class Emulator : public testing::Test {
 protected:
  const std::vector<float> values_ = rising(kThreads);
  DeviceArray<float> in_{"in", values_};
  DeviceArray<float> out_{"out", kThreads};
};

TEST_F(Emulator, RunsAKernelOfManyBarriers) {
  EXPECT_EQ(reverse(in_.data(), out_.data(), true), 0);
  EXPECT_THAT(take_fault(), IsEmpty());
  EXPECT_EQ(out_.host(), std::vector<float>(values_.rbegin(), values_.rend()));
}

TEST_F(Emulator, FindsAReadOneElementBehindAnArray) {
  EXPECT_EQ(copy_one_too_many(in_.data(), out_.data(), kThreads - 1), 0);  // one too many of 63 is in it
  EXPECT_THAT(take_fault(), IsEmpty());
  DeviceArray<float> shorter("shorter", std::span(values_).first(kThreads / 2));
  EXPECT_EQ(copy_one_too_many(shorter.data(), out_.data(), kThreads / 2), 1);
  EXPECT_THAT(take_fault(), HasSubstr("out of bounds: 4 bytes at byte 128 of shorter, which has 128"));
}

TEST_F(Emulator, FindsAWriteBehindAnArray) {
  DeviceArray<float> shorter("shorter", kThreads / 2);
  EXPECT_EQ(copy_one_too_many(in_.data(), shorter.data(), kThreads / 2), 1);
  EXPECT_THAT(take_fault(), HasSubstr("out of bounds: 4 bytes at byte 128 of shorter"));
}

TEST_F(Emulator, FindsAWriteToInput) {
  EXPECT_EQ(write_input(in_.data()), 1);
  EXPECT_THAT(take_fault(), HasSubstr("writes to in, which is input"));
  EXPECT_EQ(in_.host(), values_);
}

TEST_F(Emulator, FindsAReadOfWhatNobodyWrote) {
  DeviceArray<float> empty("empty", kThreads);
  EXPECT_EQ(reverse(empty.data(), out_.data(), true), 1);
  EXPECT_THAT(take_fault(), HasSubstr("of empty, which nobody wrote"));
  EXPECT_EQ(read_unwritten_shared(out_.data()), 1);
  EXPECT_THAT(take_fault(), HasSubstr("of shared memory, which nobody wrote"));
}

// What the block before wrote into shared memory is gone.
TEST_F(Emulator, ForgetsSharedMemoryAfterABlock) {
  EXPECT_EQ(leave_shared_memory(out_.data(), 0), 0);
  EXPECT_EQ(read_unwritten_shared(out_.data()), 1);
  EXPECT_THAT(take_fault(), HasSubstr("which nobody wrote"));
}

TEST_F(Emulator, FindsAWriteOutsideOfSharedMemory) {
  EXPECT_EQ(leave_shared_memory(out_.data(), kThreads), 1);
  EXPECT_THAT(take_fault(), HasSubstr("out of bounds: 4 bytes at byte 256 of shared memory, which has 256"));
  EXPECT_EQ(leave_shared_memory(out_.data(), -1), 1);
  EXPECT_THAT(take_fault(), HasSubstr("out of bounds"));
}

TEST_F(Emulator, FindsARaceInSharedMemoryWhateverTheOrderOfThreads) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    emulator::set_seed(seed);
    EXPECT_EQ(reverse(in_.data(), out_.data(), false), 1);
    EXPECT_THAT(take_fault(), HasSubstr("race: thread"));
  }
}

TEST_F(Emulator, TakesABarrierOfAWarpForItsLanesOnly) {
  EXPECT_EQ(reverse_warps(in_.data(), out_.data(), true), 0);
  EXPECT_THAT(take_fault(), IsEmpty());
  EXPECT_EQ(out_.host()[0], values_[31]);
  EXPECT_EQ(reverse_warps(in_.data(), out_.data(), false), 1);
  EXPECT_THAT(take_fault(), HasSubstr("race: thread"));
}

TEST_F(Emulator, FindsARaceInGlobalMemoryAlsoBetweenBlocks) {
  EXPECT_EQ(write_one_place(out_.data(), false), 1);
  EXPECT_THAT(take_fault(), HasSubstr("race"));
  EXPECT_EQ(write_one_place(out_.data(), true), 1);
  EXPECT_THAT(take_fault(), HasSubstr("of another block writes"));
}

TEST_F(Emulator, TakesAtomicSumsForNoRace) {
  DeviceArray<int32_t> count("count", std::vector<int32_t>{0}, false);
  EXPECT_EQ(count_threads(count.data(), true), 0);
  EXPECT_EQ(count.host()[0], 2 * kThreads);
  EXPECT_EQ(count_threads(count.data(), false), 1);
  EXPECT_THAT(take_fault(), HasSubstr("race"));
}

TEST_F(Emulator, FindsABarrierThatNotAllThreadsReach) {
  EXPECT_EQ(half_at_a_barrier(), 1);
  EXPECT_THAT(take_fault(), HasSubstr("waits for threads that never come"));
  DeviceArray<int32_t> out("out", kThreads);
  EXPECT_EQ(lanes_apart(out.data()), 1);
  EXPECT_THAT(take_fault(), HasSubstr("different exchanges"));
}

TEST_F(Emulator, FindsAnIndexOutsideOfAnArrayOnTheStack) {
  DeviceArray<float> ones("ones", std::vector<float>(kThreads, 1), false);
  DeviceArray<int32_t> index("index", std::vector<int32_t>(kThreads, 4));
  EXPECT_EQ(index_beyond_array(index.data(), ones.data()), 1);
  EXPECT_THAT(take_fault(), HasSubstr("index 4 of an array"));
}

TEST_F(Emulator, GoesOnAfterAFault) {
  EXPECT_EQ(half_at_a_barrier(), 1);
  EXPECT_THAT(take_fault(), HasSubstr("waits"));
  EXPECT_EQ(reverse(in_.data(), out_.data(), true), 0);
  EXPECT_EQ(out_.host()[0], values_[kThreads - 1]);
}

}  // namespace
}  // namespace slipstream::cuda
