// Instruction paths: which instructions the cpu kernels use. A path is selected at run time; tests
// run every path that the machine has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace slipstream {

// Slowest first, but for the last. Each path needs the instruction sets of those before it, and
// differs from the one before as follows.
enum class CpuPath : uint8_t {
  portable,     // plain C++; bf16 weights times f32 activations, small formats times int8
  avx2,         // AVX2, FMA and F16C
  avx512,       // AVX-512 F, BW, DQ and VL; small formats as on avx2
  avx512_vnni,  // small formats by VPDPBUSD
  avx512_bf16,  // bf16 weights times activations rounded to bf16, sums in f32, by VDPBF16PS
  amx,          // the same by tiles (TDPBF16PS); a bf16 cache, and attention by tiles
  amx_bf16,     // small formats by tiles, too, widened to bf16: many rows are faster, one is slower
};

// The instruction sets that paths need, as far as both the CPU and the operating system allow them.
struct CpuFeatures {
  bool avx2 = false, fma = false, f16c = false;
  bool avx512f = false, avx512bw = false, avx512dq = false, avx512vl = false, avx512_vnni = false, avx512_bf16 = false;
  bool amx_tile = false, amx_bf16 = false;
};
CpuFeatures this_cpu();
const char* missing_for(CpuPath path, const CpuFeatures& cpu);  // the first instruction set that the CPU lacks; null: none

const char* name(CpuPath path);
std::optional<CpuPath> cpu_path(std::string_view name);
bool available(CpuPath path);  // this machine can run it
std::span<const CpuPath> all_cpu_paths();
CpuPath best_cpu_path(const CpuFeatures& cpu);   // the fastest that it can run, for a row alone
CpuPath best_cpu_path();                         // that of this machine
std::span<const CpuPath> available_cpu_paths();  // in the order of CpuPath; never empty

}  // namespace slipstream
