// Which instructions the cpu kernels use. Picked at run time; tests pick each one that the machine
// has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace slipstream {

enum class CpuPath : uint8_t {  // slowest first; each needs all that the one before it needs
  portable,                     // plain C++, bf16 weights, f32 activations
  avx2,                         // AVX2, FMA and F16C
  avx512,                       // the same by AVX-512 F/BW/DQ/VL; small formats as on avx2
  avx512_vnni,                  // small formats by VPDPBUSD
  avx512_bf16,                  // and VDPBF16PS: matrices multiply bf16 weights by activations rounded to bf16, sums in f32
  amx,                          // the same by tiles (TDPBF16PS)
};

// Instruction sets that paths ask for, each with its operating system's consent.
struct CpuFeatures {
  bool avx2 = false, fma = false, f16c = false;
  bool avx512f = false, avx512bw = false, avx512dq = false, avx512vl = false, avx512_vnni = false, avx512_bf16 = false;
  bool amx_tile = false, amx_bf16 = false;
};
CpuFeatures this_cpu();
const char* missing_for(CpuPath path, const CpuFeatures& cpu);  // the first instruction set that it lacks; null: none

const char* name(CpuPath path);
std::optional<CpuPath> cpu_path(std::string_view name);
bool available(CpuPath path);  // this machine can run it
std::span<const CpuPath> all_cpu_paths();
CpuPath best_cpu_path();                         // the fastest available one
std::span<const CpuPath> available_cpu_paths();  // slowest first; never empty

}  // namespace slipstream
