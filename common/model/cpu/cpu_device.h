// The cpu device: weights packed for kernels/cpu, paged caches in the format of its instruction
// path, and one thread pool for all networks. It is row-invariant on every path.
//
// Make one device per process: the idle threads of two pools would spin on each other's cores.
#pragma once

#include <memory>
#include <optional>

#include "common/model/device.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/path.h"

namespace slipstream {

struct CpuOptions {
  int threads = 1;              // including the caller's, at most kComputeThreadsMax
  std::optional<CpuPath> path;  // unset: the fastest available one; an unavailable one is an error
  // Matrices are converted to this format at load (kernels/cpu/panels.h). Unset: the small formats
  // stay as they are stored, all others become bf16.
  std::optional<WeightFormat> weights;
  // Of matrices that only guess (Format::guess). Unset, as in every service: 4 bits where they are
  // stored in plain numbers and whole blocks, whatever `weights` says; else as `weights` says.
  std::optional<WeightFormat> guesses;
};

Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options);

// The size of a cache that Device::cache() would make, in bytes.
size_t cpu_cache_bytes(CpuPath path, int layers, AttentionShape shape, int32_t blocks);
// Bytes of a plane of features, which a draft head has beside its cache, of so many blocks.
size_t cpu_plane_bytes(int32_t cols, int32_t blocks);

}  // namespace slipstream
