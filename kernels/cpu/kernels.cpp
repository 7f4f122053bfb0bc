#include "kernels/cpu/kernels.h"

#include <cstring>

#include "kernels/cpu/vocabulary.h"

namespace slipstream {

const Kernels& kernels(CpuPath path) {
  switch (path) {
    case CpuPath::portable:
      return kPortableKernels;
    case CpuPath::avx2:
      return kAvx2Kernels;
    case CpuPath::avx512:
      return kAvx512Kernels;
    case CpuPath::avx512_vnni:
      return kAvx512VnniKernels;
    case CpuPath::avx512_bf16:
      return kAvx512Bf16Kernels;
    case CpuPath::amx:
      return kAmxKernels;
    case CpuPath::amx_bf16:
      return kAmxBf16Kernels;
  }
  return kPortableKernels;
}

// Three tables serve all paths: the loops over a vocabulary gain nothing from VNNI, BF16 or AMX.
const VocabularyKernels& vocabulary_kernels(CpuPath path) {
  if (path >= CpuPath::avx512) return kAvx512Vocabulary;
  return path == CpuPath::avx2 ? kAvx2Vocabulary : kPortableVocabulary;
}

const VocabularyKernels& best_vocabulary_kernels() {
  static const VocabularyKernels& best = vocabulary_kernels(best_cpu_path());
  return best;
}

void round_activations(const Kernels& kernels, Activations kind, const float* in, int32_t rows, int32_t cols, int32_t first,
                       std::byte* out) {
  const float* from = in + int64_t{first} * cols;
  switch (kind) {
    case Activations::f32:
      std::memcpy(out + activation_bytes(kind, first, cols), from, static_cast<size_t>(cols) * sizeof(float));
      break;
    case Activations::bf16:
      kernels.to_bf16(from, cols, reinterpret_cast<uint16_t*>(out + activation_bytes(kind, first, cols)));
      break;
    case Activations::bf16_pairs:
      kernels.to_bf16_pairs(from, pair_rows(rows - first), cols, pair_rows(rows),
                            reinterpret_cast<uint16_t*>(out + activation_bytes(kind, first, cols)));
      break;
    case Activations::int8:
      kernels.to_int8(from, cols, reinterpret_cast<ActivationGroup*>(out + activation_bytes(kind, first, cols)));
  }
}

}  // namespace slipstream
