#include "kernels/cpu/path.h"

#include <cstddef>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace slipstream {
namespace {

constexpr CpuPath kAll[] = {CpuPath::portable,    CpuPath::avx2, CpuPath::avx512,  CpuPath::avx512_vnni,
                            CpuPath::avx512_bf16, CpuPath::amx,  CpuPath::amx_bf16};

// An instruction set that a path needs. A path also needs those of all paths before it.
struct Need {
  CpuPath path;
  bool CpuFeatures::* has;
  const char* name;
};
constexpr Need kNeeds[] = {
    {CpuPath::avx2, &CpuFeatures::avx2, "AVX2"},
    {CpuPath::avx2, &CpuFeatures::fma, "FMA"},
    {CpuPath::avx2, &CpuFeatures::f16c, "F16C"},
    {CpuPath::avx512, &CpuFeatures::avx512f, "AVX-512 F"},
    {CpuPath::avx512, &CpuFeatures::avx512bw, "AVX-512 BW"},
    {CpuPath::avx512, &CpuFeatures::avx512dq, "AVX-512 DQ"},
    {CpuPath::avx512, &CpuFeatures::avx512vl, "AVX-512 VL"},
    {CpuPath::avx512_vnni, &CpuFeatures::avx512_vnni, "AVX-512 VNNI"},
    {CpuPath::avx512_bf16, &CpuFeatures::avx512_bf16, "AVX-512 BF16"},
    {CpuPath::amx, &CpuFeatures::amx_tile, "AMX TILE"},
    {CpuPath::amx, &CpuFeatures::amx_bf16, "AMX BF16"},
};

// Asks Linux for permission to use the tile registers (8 KB a thread), which a process needs before
// its first tile instruction. The permission holds for all of its threads.
bool tiles_granted() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
#else
  return false;
#endif
}

}  // namespace

// __builtin_cpu_supports checks (by XGETBV) that the operating system saves the wide registers,
// too.
CpuFeatures this_cpu() {
  return {.avx2 = __builtin_cpu_supports("avx2") != 0,
          .fma = __builtin_cpu_supports("fma") != 0,
          .f16c = __builtin_cpu_supports("f16c") != 0,
          .avx512f = __builtin_cpu_supports("avx512f") != 0,
          .avx512bw = __builtin_cpu_supports("avx512bw") != 0,
          .avx512dq = __builtin_cpu_supports("avx512dq") != 0,
          .avx512vl = __builtin_cpu_supports("avx512vl") != 0,
          .avx512_vnni = __builtin_cpu_supports("avx512vnni") != 0,
          .avx512_bf16 = __builtin_cpu_supports("avx512bf16") != 0,
          .amx_tile = __builtin_cpu_supports("amx-tile") != 0 && tiles_granted(),
          .amx_bf16 = __builtin_cpu_supports("amx-bf16") != 0};
}

const char* missing_for(CpuPath path, const CpuFeatures& cpu) {
  for (const Need& need : kNeeds) {
    if (need.path <= path && !(cpu.*need.has)) return need.name;
  }
  return nullptr;
}

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
    case CpuPath::amx:
      return "amx";
    case CpuPath::amx_bf16:
      return "amx_bf16";
  }
  return "unknown";
}

std::optional<CpuPath> cpu_path(std::string_view wanted) {
  for (const CpuPath path : kAll) {
    if (wanted == name(path)) return path;
  }
  return std::nullopt;
}

bool available(CpuPath path) { return missing_for(path, this_cpu()) == nullptr; }

std::span<const CpuPath> all_cpu_paths() { return kAll; }

std::span<const CpuPath> available_cpu_paths() {
  size_t count = 1;
  while (count < std::size(kAll) && available(kAll[count])) ++count;
  return {kAll, count};
}

CpuPath best_cpu_path(const CpuFeatures& cpu) {
  CpuPath best = CpuPath::portable;
  for (const CpuPath path : kAll) {
    if (path != CpuPath::amx_bf16 && missing_for(path, cpu) == nullptr) best = path;
  }
  return best;
}

CpuPath best_cpu_path() { return best_cpu_path(this_cpu()); }

}  // namespace slipstream
