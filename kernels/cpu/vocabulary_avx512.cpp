// The loops of vocabulary_loops.h for AVX-512 F, BW, DQ, VL.
#include "kernels/cpu/vocabulary_loops.h"

namespace slipstream {

const VocabularyKernels kAvx512Vocabulary = kVocabularyLoops;

}  // namespace slipstream
