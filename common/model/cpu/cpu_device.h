// The cpu device: weights packed for kernels/cpu, paged caches in the format that the path reads,
// one pool of threads for all networks. Row-invariant on every path. A process makes one device:
// two pools that spin would take each other's cores.
#pragma once

#include <memory>
#include <optional>

#include "common/model/device.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/path.h"

namespace slipstream {

struct CpuOptions {
  int threads = 1;                      // the caller's included, at most kComputeThreadsMax
  std::optional<CpuPath> path;          // unset: the fastest one available; an unavailable one is an error
  std::optional<WeightFormat> weights;  // of matrices, made at load (panels.h); unset: small ones stay as they are stored,
                                        // others become bf16
};

Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options);

// Bytes of a cache of that shape (Device::cache).
size_t cpu_cache_bytes(CpuPath path, int layers, AttentionShape shape, int32_t blocks);

}  // namespace slipstream
