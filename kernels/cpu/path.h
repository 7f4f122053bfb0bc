// Which instructions the cpu kernels use. Picked at run time; tests pick each one that the machine has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace slipstream {

enum class CpuPath : uint8_t {
  portable,     // plain C++, bf16 weights, f32 activations
  avx2,         // AVX2, FMA and F16C
  avx512,       // the same by AVX-512 F/BW/DQ/VL; small formats as on avx2
  avx512_vnni,  // small formats by VPDPBUSD
  avx512_bf16,  // and VDPBF16PS: matrices multiply bf16 weights by activations rounded to bf16, sums in f32
};

const char* name(CpuPath path);
std::optional<CpuPath> cpu_path(std::string_view name);
bool available(CpuPath path);                    // this machine and its operating system can run it
CpuPath best_cpu_path();                         // the fastest available one
std::span<const CpuPath> available_cpu_paths();  // slowest first; never empty

}  // namespace slipstream
