// Launchers of kernels with one bug each, for the tests of the emulator. All run one block of 64
// threads, unless said otherwise.
#pragma once

#include <cstdint>

namespace slipstream::cuda {

int copy_one_too_many(const float* from, float* to, int32_t count);  // reads and writes element `count`, too
int write_input(const float* from);                                  // writes what it should read
int read_unwritten_shared(float* out);                               // no thread fills shared memory
int leave_shared_memory(float* out, int32_t index);                  // writes shared[index], of 64 floats
int reverse(const float* from, float* to, bool with_barrier);        // through shared memory, in and out
int reverse_warps(const float* from, float* to, bool with_barrier);  // the same within each warp, by __syncwarp
int write_one_place(float* out, bool two_blocks);                    // all threads, or one each of two blocks
int count_threads(int32_t* count, bool atomically);                  // of two blocks
int half_at_a_barrier();                                             // the other half leaves
int lanes_apart(int32_t* out);                                       // odd lanes shuffle, even ones vote
int index_beyond_array(const int32_t* index, float* out);            // of an array on the stack

}  // namespace slipstream::cuda
