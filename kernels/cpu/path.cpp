#include "kernels/cpu/path.h"

namespace slipstream {
namespace {

constexpr CpuPath kAll[] = {CpuPath::portable, CpuPath::avx2, CpuPath::avx512, CpuPath::avx512_vnni, CpuPath::avx512_bf16};

// __builtin_cpu_supports also asks the operating system (XGETBV) whether it saves the wide registers.
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace

const char* name(CpuPath path) {
  switch (path) {
    case CpuPath::portable:
      return "portable";
    case CpuPath::avx2:
      return "avx2";
    case CpuPath::avx512:
      return "avx512";
    case CpuPath::avx512_vnni:
      return "avx512_vnni";
    case CpuPath::avx512_bf16:
      return "avx512_bf16";
  }
  return "unknown";
}

std::optional<CpuPath> cpu_path(std::string_view wanted) {
  for (const CpuPath path : kAll) {
    if (wanted == name(path)) return path;
  }
  return std::nullopt;
}

bool available(CpuPath path) {
  switch (path) {
    case CpuPath::portable:
      return true;
    case CpuPath::avx2:
      return has_avx2();
    case CpuPath::avx512:
      return has_avx512();
    case CpuPath::avx512_vnni:
      return has_avx512() && __builtin_cpu_supports("avx512vnni");
    case CpuPath::avx512_bf16:
      return has_avx512() && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16");
  }
  return false;
}

// Each path needs all that the one before it needs.
std::span<const CpuPath> available_cpu_paths() {
  size_t count = 1;
  while (count < std::size(kAll) && available(kAll[count])) ++count;
  return {kAll, count};
}

CpuPath best_cpu_path() { return available_cpu_paths().back(); }

}  // namespace slipstream
