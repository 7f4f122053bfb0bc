#include "kernels/cuda/edit.h"

#include "kernels/cuda/cuda.cuh"

namespace slipstream::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int32_t kPart = 8192;  // tokens of a row that are one block's

// A block has a part of a row: it copies the part, and makes those of the row's edits that are in
// it, one list after the other.
__global__ void __launch_bounds__(kThreads) edit_kernel(EditArgs args) {
  const EditedRow row = args.rows[blockIdx.x];
  const auto begin = static_cast<int32_t>(blockIdx.y) * kPart, end = min(args.vocabulary, begin + kPart);
  const auto thread = static_cast<int32_t>(threadIdx.x);
  const float* in = args.logits + int64_t{row.row} * args.vocabulary;
  float* out = args.out + int64_t{blockIdx.x} * args.vocabulary;
  for (int32_t token = begin + thread; token < end; token += kThreads) out[token] = in[token];
  __syncthreads();
  const auto make = [&](int32_t first, int32_t last) {
    for (int32_t at = first + thread; at < last; at += kThreads) {
      const LogitEdit edit = args.edits[at];
      if (edit.token >= begin && edit.token < end) out[edit.token] = edited(out[edit.token], edit);
    }
    __syncthreads();
  };
  make(row.first, row.penalties);
  make(row.penalties, row.end);
  if (row.mask < 0) return;
  const uint32_t* allowed = args.masks + int64_t{row.mask} * ((args.vocabulary + 31) / 32);
  for (int32_t token = begin + thread; token < end; token += kThreads) {
    if ((allowed[token / 32] >> (token % 32) & 1) == 0) out[token] = forbidden(out[token]);
  }
}

}  // namespace

int edit_rows(const EditArgs& args, Stream stream) {
  const dim3 grid(static_cast<unsigned>(args.count), static_cast<unsigned>((args.vocabulary + kPart - 1) / kPart));
  return launch(edit_kernel, grid, dim3(kThreads), stream, args);
}

}  // namespace slipstream::cuda
